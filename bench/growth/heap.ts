/** The memory of one call: many are begun at once in a process of its own, and their answers never come. */

import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { moduleOf } from "../support/manifest.ts";
import { Part, say, taskOf } from "../support/process.ts";
import { type Figures, type Measure, spreadOf } from "../support/results.ts";

const CALLS = 10_000;
const LIMITS_KB = { "a call that is begun": 6, "a call at the gate": 11, "a walk at the gate": 14 } as const;

type Row = keyof typeof LIMITS_KB;

interface HeapTask {
  readonly folder: string;
  readonly row: Row;
}

const ROWS = Object.keys(LIMITS_KB) as Row[]; // they are

export const heap: Measure = {
  title: `${CALLS} calls at once, none of which is answered: heap of one`,
  guards: ROWS.map((client) => ({ client, figure: "kB", atMost: LIMITS_KB[client] })),
  async run({ packages, quick }) {
    const [folder = ""] = packages;
    const found: [Row, { kB: ReturnType<typeof spreadOf> }][] = [];
    for (const row of ROWS) {
      const laps: number[] = [];
      for (let lap = 0; lap < (quick ? 1 : 3); lap += 1) laps.push(await kilobytes({ folder, row }));
      found.push([row, { kB: spreadOf(laps) }]);
    }
    return Object.fromEntries(found) satisfies Figures;
  },
};

async function kilobytes(task: HeapTask): Promise<number> {
  const client = new Part(new URL(import.meta.url), task);
  try {
    return (await client.next<{ kB: number }>()).kB;
  } finally {
    client.stop();
  }
}

async function measure({ folder, row }: HeapTask): Promise<number> {
  const { Client } = (await import(pathToFileURL(moduleOf(folder, ".")).href)) as typeof import("../../dist/index.js");
  let isAnswered = true;
  const headers = { "content-type": "application/json" };
  const client = new Client({
    baseUrl: "http://127.0.0.1/api/v1",
    token: "pat_key_secret",
    validation: "lenient",
    maxConcurrency: 1,
    timeoutMs: false,
    fetch: () => (isAnswered ? Promise.resolve(new Response("{}", { headers })) : new Promise(() => {})),
  });
  for (let at = 0; at < 1_000; at += 1) await client.sessions.get("1");
  isAnswered = false;
  const used = (): number => {
    globalThis.gc?.();
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  const kept = Array.from({ length: CALLS }, () =>
    row === "a walk at the gate" ? client.projects.list().toArray() : client.sessions.get("1"),
  );
  if (row !== "a call that is begun") await pause(1_000);
  const after = used();
  if (kept.length !== CALLS) throw new Error("they are kept");
  return (after - before) / CALLS / 1_000;
}

if (process.argv[1] === import.meta.filename) say({ kB: await measure(taskOf<HeapTask>()) });
