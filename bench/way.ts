/** The way of one call: the functions that a warm, successful `issues.create` runs, as V8 counts them in the sources. */

import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { KY, OURS, PROJECT } from "./clients.ts";
import { HEADERS, issueBody, titleOf } from "./cost/bodies.ts";
import { Part, say, taskOf } from "./support/process.ts";
import type { Figures, Measure } from "./support/results.ts";

const WARM_UP = 100;
const BUNDLED = [KY, "p-retry", "zod"];

interface Step {
  readonly scriptId: string;
  readonly file: string;
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

export const way: Measure = {
  title: "The functions of one warm issues.create, by source file in the order of the first call",
  async run({ packages }) {
    const figures: Record<string, Figures[string]> = {};
    for (const [at, folder] of packages.entries()) {
      const part = new Part(new URL(import.meta.url), { folder });
      const steps = await part.next<Step[]>().finally(() => part.stop());
      const stepsIn = (place: string): Step[] => steps.filter(({ file }) => file.includes(place));
      const source = `${pathToFileURL(join(folder, "src")).href}/`;
      for (const file of filesOf(stepsIn(source))) {
        console.log(
          `${file.slice(source.length)}: ${stepsIn(file)
            .map(({ name }) => name || "=>")
            .join(", ")}`,
        );
      }
      figures[at === 0 ? OURS : `${OURS} @ ${folder}`] = sumOf(stepsIn(source));
      if (at === 0) for (const name of BUNDLED) figures[name] = sumOf(stepsIn(`/node_modules/${name}/`));
    }
    return figures;
  },
};

const filesOf = (steps: readonly Step[]): Set<string> => new Set(steps.map(({ file }) => file));

function sumOf(steps: readonly Step[]): Figures[string] {
  return { functions: steps.length, files: filesOf(steps).size };
}

async function stepsOf(folder: string): Promise<Step[]> {
  const call = await connect(folder);
  for (let at = 0; at < WARM_UP; at += 1) await call();
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  await call();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  const steps = result.flatMap(({ scriptId, url: file, functions }) =>
    functions.flatMap(({ functionName: name, ranges: [whole] }) =>
      whole?.count && /\/(src|node_modules)\//.test(file)
        ? [{ scriptId, file, name, start: whole.startOffset, end: whole.endOffset }]
        : [],
    ),
  );
  return inOrder(steps, session, call);
}

/** Each function notes its first run, in the condition of a breakpoint that never holds. An empty function has no place for one. */
async function inOrder(steps: readonly Step[], session: Session, call: () => Promise<unknown>): Promise<Step[]> {
  const seen = new Set<number>();
  Object.assign(globalThis, { __seen: seen });
  await session.post("Debugger.enable");
  for (const [at, { scriptId, start, end }] of steps.entries()) {
    const { scriptSource } = await session.post("Debugger.getScriptSource", { scriptId });
    const place = (offset: number) => {
      const lines = scriptSource.slice(0, offset).split("\n");
      return { scriptId, lineNumber: lines.length - 1, columnNumber: lines.at(-1)?.length ?? 0 };
    };
    const range = { start: place(start), end: place(end), restrictToFunction: true };
    const [location] = (await session.post("Debugger.getPossibleBreakpoints", range)).locations;
    if (location !== undefined)
      await session.post("Debugger.setBreakpoint", { location, condition: `!__seen.add(${at})` });
  }
  await call();
  return [...new Set([...seen, ...steps.keys()])].flatMap((at) => steps[at] ?? []);
}

/** Loads the sources: Node strips their types in place, so that a file is one of `src`. */
async function connect(folder: string): Promise<() => Promise<unknown>> {
  const source = pathToFileURL(join(folder, "src/client/index.ts")).href;
  const { Client } = (await import(source)) as typeof import("../dist/index.js");
  let calls = 0;
  const fetch = async (): Promise<Response> => new Response(issueBody(calls), { headers: HEADERS });
  const { issues } = new Client({ baseUrl: "https://service.example/api/v1", token: "pat_key_secret", fetch });
  return () => {
    calls += 1;
    return issues.create(PROJECT, { title: titleOf(calls), type: "bug" });
  };
}

if (process.argv[1] === import.meta.filename) say(await stepsOf(taskOf<{ folder: string }>().folder));
