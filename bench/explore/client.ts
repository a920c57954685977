/** Explores one program, in a process that has just begun, as a test does. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { say, taskOf } from "../support/process.ts";
import { moduleOf } from "../support/results.ts";
import type { Explored, ProgramName } from "./index.ts";

type Context = Parameters<Parameters<typeof import("../../dist/testing/node.js")["exploreFaults"]>[0]["program"]>[0];

export interface ExploreTask {
  readonly folder: string;
  readonly name: ProgramName;
  readonly rows: number;
}

const { folder, name, rows } = taskOf<ExploreTask>();
const load = async <Module>(entryPoint: string): Promise<Module> =>
  (await import(pathToFileURL(moduleOf(folder, entryPoint)).href)) as Module; // the entry point has this type
const { ExplorationError, exploreFaults } = await load<typeof import("../../dist/testing/node.js")>("./testing/node");
const { bulkWrite } = await load<typeof import("../../dist/bulk/index.js")>("./bulk");
const { fileJournal } = await load<typeof import("../../dist/bulk/node.js")>("./bulk/node");
const titles = Array.from({ length: rows }, (_, at) => `Row ${at + 1}`);

async function retried<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (attempt === 5) throw error;
      await pause(1_000 * attempt);
    }
  }
}

const PROGRAMS: Readonly<Record<ProgramName, (context: Context & { prepared: string }) => Promise<void>>> = {
  "a retry loop": async ({ client }) => {
    for (const title of titles) await retried(() => client.issues.create("web", { title, type: "bug" }));
  },
  "Promise.allSettled": async ({ client }) => {
    await Promise.allSettled(titles.map((title) => client.issues.create("web", { title, type: "bug" })));
  },
  "bulkWrite with a journal": async ({ client, prepared }) => {
    const { not_sent, unknown } = await bulkWrite({
      client,
      items: titles,
      key: (title) => title,
      send: (own, title) => own.issues.create("web", { title, type: "bug" }),
      journal: fileJournal(join(prepared, "import.journal")),
    });
    if (not_sent + unknown > 0) throw new Error("look at the journal");
  },
};

const lasted: number[] = [];
let beganAt = 0;
const report = await exploreFaults({
  program: PROGRAMS[name],
  prepare: () => {
    beganAt = performance.now();
    return mkdtemp(join(tmpdir(), "bench-explore-"));
  },
  dispose: async (prepared) => {
    lasted.push(performance.now() - beganAt);
    await rm(prepared, { recursive: true });
  },
}).catch((error: unknown) => {
  if (error instanceof ExplorationError) return error.report;
  throw error;
});
// The third of the undisturbed runs delays its requests.
const [first = 0, second = 0, , ...faulty] = lasted;
const { runs, right, told, findings } = report;
const wrong = findings.reduce((sum, finding) => sum + finding.runs, 0);
say({
  runs,
  right,
  told,
  wrong,
  undisturbedMs: (first + second) / 2,
  runMs: faulty.reduce((sum, ms) => sum + ms, 0) / faulty.length,
} satisfies Explored);
