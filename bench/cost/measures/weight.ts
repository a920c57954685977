/** What the package weighs: its share of a browser program, its lines, and what starting a program with it costs. */

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { pairwise, type Spread, spreadOf } from "../../support/statistics.ts";
import { type Bench, round, type Section, spread, type Target } from "../bench.ts";
import { withService } from "../service.ts";

export const name = "weight";

const here = fileURLToPath(new URL("../../", import.meta.url));

const MOST = { ownKb: 18.5, programKb: 35.5, lines: 3_800, files: 62, importMs: 10, firstGet: 1.2 } as const;

/** As the check of the package has it: an everyday program in a browser. */
const program = (entry: string): string => `
  import { Client, isAutomationError } from ${JSON.stringify(entry)};
  const client = new Client({ baseUrl: location.origin, token: location.hash });
  try {
    for await (const project of client.projects.list()) console.log(project.name);
  } catch (error) {
    if (isAutomationError(error) && error.kind === "rate_limit") console.log(error.retryAfterMs);
    else throw error;
  }`;
const BUNDLED = ["ky", "zod", "p-retry"];

/** Parts that a program has only if it asks for them. */
const NOT_CORE = /^(bin|bulk|doctor|mcp|opentelemetry|redis|testing)(\/|\.ts$)|^auth\/rotat/;

export async function run(bench: Bench): Promise<Section[]> {
  bench.progress("weight");
  const programKb = (await gzipped(join(bench.package, "dist/index.js"), [])) / 1_000;
  const ownKb = (await gzipped(join(bench.package, "src/client/index.ts"), BUNDLED)) / 1_000;
  const core = coreOf(join(bench.package, "src"));
  const start = await startOf(bench);
  const targets: Target[] = [
    { what: "own code in a browser program, kB gzipped", value: ownKb, atMost: MOST.ownKb },
    { what: "browser program, kB gzipped", value: programKb, atMost: MOST.programKb },
    { what: "core, lines of code", value: core.lines, atMost: MOST.lines },
    { what: "core, files", value: core.files, atMost: MOST.files },
    { what: "import, ms of CPU more than ky", value: start.importMs.median, atMost: MOST.importMs },
    { what: "import and first GET, CPU, × ky", value: start.firstGet.median, atMost: MOST.firstGet },
  ];
  return [
    {
      name,
      title: "Weight",
      note: "The browser program lists projects and tells one error, as in the check of the package; minified by esbuild. Core: without rotating tokens, Redis, OpenTelemetry, bulk, MCP, doctor and testing; lines without comments and blank ones. Starting: CPU of new processes, ours beside ky's of the same round; medians, quartiles in brackets.",
      heading: ["", ""],
      rows: [
        ["own code, kB", round(ownKb)],
        ["browser program, kB", round(programKb)],
        ["core, lines in files", `${core.lines} in ${core.files}`],
        ["import, ms more than ky", spread(start.importMs)],
        ["import and first GET, × ky", spread(start.firstGet)],
      ],
      figures: { weight: { ownKb, programKb, ...core, ...start } },
      targets,
    },
  ];
}

async function gzipped(entry: string, external: readonly string[]): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: program(entry), resolveDir: here },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    logLevel: "error",
    external: external.flatMap((one) => [one, `${one}/*`]),
  });
  const [bundle] = outputFiles;
  if (bundle === undefined) throw new Error("esbuild gave no bundle");
  return gzipSync(bundle.contents, { level: 9 }).length;
}

function coreOf(src: string): { readonly lines: number; readonly files: number } {
  const files = readdirSync(src, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".ts") && !NOT_CORE.test(file));
  const lines = files.flatMap((file) => readFileSync(join(src, file), "utf8").split("\n"));
  return { lines: lines.filter((line) => !/^\s*(\/\/|\/?\*|$)/.test(line)).length, files: files.length };
}

interface Start {
  readonly importMs: Spread;
  readonly firstGet: Spread;
}

async function startOf({ package: folder, quick }: Bench): Promise<Start> {
  const ours = JSON.stringify(join(folder, "dist/index.js"));
  return withService({ items: 3, pageMs: 0 }, async (origin) => {
    const base = JSON.stringify(`${origin}/api/v1`);
    const programs = {
      ky: 'import "ky";',
      ours: `import ${ours};`,
      kyGet: `import ky from "ky"; await ky(${base} + "/projects?limit=200", { headers: { authorization: "Bearer pat_key_secret" } }).json();`,
      oursGet: `import { Client } from ${ours}; await new Client({ baseUrl: ${base}, token: "pat_key_secret" }).projects.list({ limit: 200 }).toArray();`,
    };
    const cpu = { ky: [], ours: [], kyGet: [], oursGet: [] } as Record<keyof typeof programs, number[]>;
    for (let at = 0; at < (quick ? 10 : 40); at += 1) {
      for (const one of ["ky", "ours", "kyGet", "oursGet"] as const) {
        const ms = cpuOf(programs[one]);
        if (at > 0) cpu[one].push(ms); // the first reads the files from the disk
      }
    }
    return {
      importMs: spreadOf(cpu.ours.map((ms, at) => ms - (cpu.ky[at] ?? Number.NaN))),
      firstGet: pairwise(cpu.oursGet, cpu.kyGet, (mine, theirs) => mine / theirs),
    };
  });
}

/** CPU time of a new process that runs a program, in milliseconds. */
function cpuOf(code: string): number {
  const report = "const { user, system } = process.cpuUsage(); console.log((user + system) / 1000);";
  const text = execFileSync(process.execPath, ["--input-type=module", "--eval", `${code} ${report}`], {
    cwd: here,
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: "", NODE_COMPILE_CACHE: "" },
  });
  return Number(text);
}
