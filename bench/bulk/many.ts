/**
 * A run over many items with a `send` that answers at once, in a process of its own with `--expose-gc`: what it keeps in
 * memory, and for how long it keeps the thread.
 */
import { bulkWrite } from "../../dist/bulk/index.js";
import { fileJournal } from "../../dist/bulk/node.js";
import { say, taskOf } from "../support/part.ts";

export interface Task {
  readonly items: number;
  readonly path: string;
}

export interface Report {
  readonly skipped: number;
  /** What the run has in the heap halfway, in bytes. */
  readonly heapBytes: number;
  /** What a set of the keys alone takes. */
  readonly keysBytes: number;
  /** The longest time between two turns of the platform: of the thread's own time, and as the clock has it. */
  readonly longestCpuMs: number;
  readonly longestWallMs: number;
}

const task = taskOf<Task>();
const nameOf = (index: number): string => `row-${index}`;
const empty = heap();
const keys = new Set(Array.from({ length: task.items }, (_, index) => nameOf(index)));
const keysBytes = heap() - empty;
keys.clear();

let calls = 0;
let ended = 0;
let heapBytes = 0;
const blocks = watchTurns();
const before = heap();
const run = bulkWrite({
  items: items(),
  key: (item) => item.id,
  send: async (_, { onRequest, onResponse }) => {
    calls += 1;
    const callId = String(calls);
    await onRequest({ callId });
    onResponse({ callId, status: 201, url: "" });
  },
  journal: await fileJournal(task.path),
  concurrency: 500,
});
for await (const _ of run) {
  ended += 1;
  if (ended !== task.items / 2) continue;
  heapBytes = heap() - before;
  blocks.restart(); // the collection was not the run's
}
const { longestCpuMs, longestWallMs } = blocks.stop();
const { skipped } = run.summary;
say({ skipped, heapBytes, keysBytes, longestCpuMs, longestWallMs } satisfies Report);

function* items(): Generator<{ readonly id: string; readonly text: string }> {
  for (let index = 0; index < task.items; index += 1) yield { id: nameOf(index), text: "x".repeat(1_000) + index };
}

function heap(): number {
  for (let times = 0; times < 3; times += 1) gc?.();
  return process.memoryUsage().heapUsed;
}

/** Measures how long it is from one turn of the platform to the next. */
function watchTurns() {
  const cpuMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let [cpu, wall] = [cpuMs(), performance.now()];
  let [longestCpuMs, longestWallMs] = [0, 0];
  const restart = (): void => {
    [cpu, wall] = [cpuMs(), performance.now()];
  };
  const look = (): void => {
    longestCpuMs = Math.max(longestCpuMs, cpuMs() - cpu);
    longestWallMs = Math.max(longestWallMs, performance.now() - wall);
    restart();
    next = setImmediate(look);
  };
  let next = setImmediate(look);
  return {
    restart,
    stop: () => {
      clearImmediate(next);
      return { longestCpuMs, longestWallMs };
    },
  };
}
