/** One contender in one measure: runs laps as it is told to, and says what each took. */

import { performance } from "node:perf_hooks";
import { say, taskOf } from "../support/part.ts";

export interface LapTask {
  readonly measure: string;
  readonly contender: string;
  /** What the measure asks of it. */
  readonly work: string;
  readonly origin: string;
  readonly package: string;
}

/** Times are of one call. */
export interface Lap {
  readonly wallUs: number;
  readonly cpuUs: number;
}

/** What a measure has for the process of a contender. */
export interface Laps {
  /** Makes the client and checks that it does its work; what it gives makes so many calls, and throws if one is wrong. */
  prepare(task: LapTask): Promise<(calls: number) => Promise<void>>;
}

const task = taskOf<LapTask>();
const { prepare } = (await import(`./measures/${task.measure}.ts`)) as Laps; // by the name of the measure
const lap = await prepare(task);

process.on("message", async (calls) => {
  say(await timed(Number(calls)));
});
say({});

async function timed(calls: number): Promise<Lap> {
  globalThis.gc?.();
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  await lap(calls);
  const wallUs = (performance.now() - startedAt) * 1_000;
  const { user, system } = process.cpuUsage(cpu);
  return { wallUs: wallUs / calls, cpuUs: (user + system) / calls };
}
