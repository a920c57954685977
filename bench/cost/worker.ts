/** One contender in one measure: runs laps as it is told to, and says what each took. */

import { performance } from "node:perf_hooks";
import { say, taskOf } from "../support/part.ts";
import { heapAfterCollection, peakRss } from "./heap.ts";

export interface LapTask {
  readonly measure: string;
  readonly contender: string;
  /** What the measure asks of it. */
  readonly work: string;
  readonly origin: string;
  readonly package: string;
}

export interface Lap {
  /** Of one call. */
  readonly wallUs: number;
  /** Of one call, in all threads of the process. */
  readonly cpuUs: number;
  /** What a garbage collection after the lap leaves beyond what one before it left. */
  readonly heapGrowthMb: number;
  /** Of the process so far. */
  readonly peakRssMb: number;
  /** Left on a signal, where the measure has one. */
  readonly listeners: number;
}

/** Makes so many calls, throws if one of them is wrong, and says what it measured itself. */
export type RunLap = (calls: number) => Promise<Partial<Lap>>;

/** What a measure has for the process of a contender. */
export interface Laps {
  /** Makes the client, and checks that it does its work. */
  prepare(task: LapTask): Promise<RunLap>;
}

const task = taskOf<LapTask>();
const { prepare } = (await import(`./measures/${task.measure}.ts`)) as Laps; // by the name of the measure
const lap = await prepare(task);

process.on("message", async (calls) => {
  say(await timed(Number(calls)));
});
say({});

async function timed(calls: number): Promise<Lap> {
  const heap = await heapAfterCollection();
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const found = await lap(calls);
  const wallUs = (performance.now() - startedAt) * 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const peakRssMb = peakRss();
  return {
    wallUs: wallUs / calls,
    cpuUs: (user + system) / calls,
    heapGrowthMb: (await heapAfterCollection()) - heap,
    peakRssMb,
    listeners: 0,
    ...found,
  };
}
