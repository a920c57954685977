/** One contender in one measure: runs laps as it is told to, and says what each took. */

import { performance } from "node:perf_hooks";
import { say, taskOf } from "../support/part.ts";
import { peakRss } from "./heap.ts";

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
  /** Processor time of one call, in all threads of the process. */
  readonly cpuUs: number;
  /** Processor time of one call, in the thread that runs the program. */
  readonly threadUs: number;
  /** Of the process so far. */
  readonly peakRssMb: number;
  /** What is in use at the end beyond what was at some earlier point, where the measure is about that. */
  readonly heapGrowthMb?: number;
  /** Left on a signal, where the measure has one. */
  readonly listeners?: number;
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

// Without a collection before: a forced one makes V8 forget code that is warm, and the calls after it cost twice as much.
async function timed(calls: number): Promise<Lap> {
  const cpu = process.cpuUsage();
  const thread = process.threadCpuUsage();
  const startedAt = performance.now();
  const found = await lap(calls);
  const wallUs = (performance.now() - startedAt) * 1_000;
  const threadUs = sum(process.threadCpuUsage(thread));
  const cpuUs = sum(process.cpuUsage(cpu));
  return {
    wallUs: wallUs / calls,
    cpuUs: cpuUs / calls,
    threadUs: threadUs / calls,
    peakRssMb: peakRss(),
    ...found,
  };
}

function sum({ user, system }: NodeJS.CpuUsage): number {
  return user + system;
}
