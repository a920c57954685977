/**
 * A run is killed with SIGKILL, at every boundary of its journal and at random moments, while the service does its worst.
 * Whatever happens: at most one issue for each key, each key in one state, and a state that is true.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BulkCounts, bulkWrite, type Resolution } from "../../src/bulk/index.ts";
import { fileJournal } from "../../src/bulk/node.ts";
import { Client } from "../../src/client/index.ts";
import type { Fault } from "../../src/testing/index.ts";
import { type RunningEmulator, startEmulator } from "../../src/testing/node.ts";
import { bundled } from "../support/child-program.ts";
import type { Boundary, Task } from "./killed-run.ts";
import { issueCounts, key, type Row, rowsOf, runToEnd, send, titled } from "./rows.ts";

const WRITE = { operation: "issues.create" } as const;
const PROGRAM = bundled(join(import.meta.dirname, "killed-run.ts"));

/** What the service does to the first request of a row. */
const WORST: readonly (Fault | undefined)[] = [
  undefined,
  { drop: "before" },
  { drop: "after" },
  { status: 500, apply: true },
  { status: 429, headers: { "retry-after": "0" } },
  { delayMs: Number.POSITIVE_INFINITY },
];

interface Place extends AsyncDisposable {
  readonly service: RunningEmulator;
  readonly task: Task;
}

async function prepare(rows: number, options: Partial<Task> = {}): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "bulk-kill-"));
  const service = await startEmulator({ projects: [{ name: "web" }], rateLimit: false });
  const { baseUrl, token } = service;
  const path = join(folder, "import.journal");
  return {
    service,
    task: { baseUrl, token, path, rows, concurrency: 3, maxConcurrency: 2, timeoutMs: 1_000, ...options },
    [Symbol.asyncDispose]: async () => {
      await service.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Runs the task in a process of its own, and kills it when `wait` resolves; returns whether it was killed. */
async function runInProcess(task: Task, wait?: () => Promise<void>): Promise<boolean> {
  const child = spawn(process.execPath, ["--no-warnings", PROGRAM, JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  // It may end by itself meanwhile.
  const closed = once(child, "close");
  if (wait !== undefined) {
    await Promise.race([once(child.stdout, "data"), closed]);
    await wait();
    child.kill("SIGKILL");
  }
  const [code, signal] = (await closed) as [number | null, string | null];
  if (code !== 0 && signal !== "SIGKILL") throw new Error(`the run ended with ${code ?? signal}: ${errors}`);
  return signal === "SIGKILL";
}

/** Runs the task here, to its end. */
async function runHere(
  { service, task }: Place,
  resolveUnknown?: (row: Row) => Promise<Resolution>,
): Promise<{ readonly states: Record<string, string>; readonly summary: BulkCounts }> {
  const client = new Client({
    baseUrl: task.baseUrl,
    token: task.token,
    timeoutMs: task.timeoutMs,
    retry: { minDelayMs: 1 },
  });
  const journal = fileJournal(task.path);
  const run = bulkWrite({ items: rowsOf(task.rows), key, client, send, journal, resolveUnknown });
  const { states, error } = await runToEnd(run);
  expect(error).toBeUndefined();
  expect(Object.keys(states).sort()).toEqual(rowsOf(task.rows).map(key).sort());
  const issues = issueCounts(service.emulator);
  for (const { id, title } of rowsOf(task.rows)) {
    const count = issues[title] ?? 0;
    expect({ id, count, state: states[id] }).toEqual({
      id,
      count: expectedCount(states[id], count),
      state: states[id],
    });
  }
  return { states, summary: run.summary };
}

/** `done` means one, `unknown` means one at most, and everything else means none. */
function expectedCount(state: string | undefined, count: number): number {
  if (state === "done") return 1;
  return state === "unknown" ? Math.min(count, 1) : 0;
}

/** After what was killed: a run to the end, one that changes nothing, and one that finds out about the rest. */
async function recover(place: Place): Promise<Record<string, string>> {
  const { emulator } = place.service;
  const { states } = await runHere(place);
  const requests = emulator.requests.length;
  const third = await runHere(place);
  expect(third.states).toEqual(states);
  expect(emulator.requests).toHaveLength(requests);

  const look = async ({ title }: Row): Promise<Resolution> =>
    issueCounts(emulator)[title] ? "applied" : "not_applied";
  // On a busy machine a request may reach its limit of a second, and leave its item once more.
  for (let more = 0; more < 4; more += 1) {
    const { summary } = await runHere(place, look);
    if (summary.done === place.task.rows) break;
  }
  expect(Object.values(issueCounts(emulator))).toEqual(Array(place.task.rows).fill(1));
  return states;
}

function distress({ service }: Place, faults: readonly number[]): void {
  for (const [index, fault] of faults.entries()) {
    const worst = WORST[fault];
    if (worst !== undefined) service.emulator.fault({ ...titled(`Issue ${index + 1}`), ...worst });
  }
}

const BOUNDARIES: readonly Boundary[] = [
  "before write",
  "in write",
  "after write",
  "after flush",
  "before request",
  "after response",
];

describe.concurrent("a run that is killed", () => {
  test.each(BOUNDARIES)("%s, each time it gets there", async (boundary) => {
    let time = 0;
    for (let isKilled = true; isKilled; ) {
      time += 1;
      await using place = await prepare(5);
      distress(place, [1, 2, 3, 4, 5]);
      isKilled = await runInProcess({ ...place.task, kill: { boundary, time } });
      await recover(place);
    }
    expect(time).toBeGreaterThan(3);
  });

  test("at random moments, several times", async () => {
    const chain = fc.record({
      faults: fc.array(fc.nat(WORST.length - 1), { minLength: 12, maxLength: 12 }),
      delays: fc.array(fc.nat(120), { minLength: 1, maxLength: 3 }),
    });
    // The seed of a failure is printed with it.
    await fc.assert(
      fc.asyncProperty(chain, async ({ faults, delays }) => {
        await using place = await prepare(12);
        distress(place, faults);
        for (const delay of delays) await runInProcess(place.task, () => setTimeout(delay));
        await recover(place);
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });

  test("in a pause of the rate limit: nothing was applied, so the next run sends all", async ({ expect }) => {
    await using place = await prepare(4, { concurrency: 4, maxConcurrency: 4, timeoutMs: 30_000 });
    const { emulator } = place.service;
    const limit = emulator.fault({ ...WRITE, times: 1, status: 429, headers: { "retry-after": "60" } });
    const silence = emulator.fault({
      ...WRITE,
      match: () => limit.hits > 0,
      times: 9,
      status: 429,
      headers: { "retry-after": "60" },
    });
    await runInProcess(place.task, () =>
      expect.poll(() => readFileSync(place.task.path, "utf8").split('"not_sent"').length).toBe(5),
    );
    expect(limit.hits + silence.hits).toBe(4);
    silence.remove();
    const { summary } = await runHere(place);
    expect(summary).toEqual({ done: 4, skipped: 0, refused: 0, not_sent: 0, unknown: 0 });
  });

  test("while items only queue: they are sent by the next run", async ({ expect }) => {
    await using place = await prepare(8, { concurrency: 8, maxConcurrency: 1, timeoutMs: 30_000 });
    const silence = place.service.emulator.fault({
      ...WRITE,
      times: Number.POSITIVE_INFINITY,
      delayMs: Number.POSITIVE_INFINITY,
    });
    await runInProcess(place.task, () => expect.poll(() => silence.hits).toBe(1));
    silence.remove();
    const { summary } = await runHere(place);
    expect(summary).toEqual({ done: 7, skipped: 0, refused: 0, not_sent: 0, unknown: 1 });
  });
});

test("a run keeps its process alive: one whose event loop is empty would end with 0, as if the import were finished", () => {
  const at = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
  const program = `
    import { bulkWrite, memoryJournal } from ${at("../../src/bulk/index.ts")};
    import { Client } from ${at("../../src/client/index.ts")};
    const client = new Client({ baseUrl: "https://a.example/api/v1", token: "pat_a_b" });
    const items = { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) };
    bulkWrite({ client, items, key: String, send: () => {}, journal: memoryJournal() }).catch(() => {});
    setTimeout(() => process.exit(7), 50).unref(); // it holds nothing by itself`;
  expect(spawnSync(process.execPath, ["--input-type=module", "--eval", program]).status).toBe(7);
});
