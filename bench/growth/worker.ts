/** One row in a process of its own: a lap to warm up the code, measured laps of few items, then one of many. */

import { pathToFileURL } from "node:url";
import { moduleOf } from "../support/manifest.ts";
import { say, taskOf } from "../support/process.ts";
import { FEW, MANY, ROWS } from "./rows.ts";

export interface GrowthTask {
  readonly folder: string;
  readonly row: string;
}

/** The CPU time of the thread for one item, in µs. */
export interface Grown {
  readonly few: number;
  readonly many: number;
}

const WARM_UP = 20_000;
const LAPS = 50;

const { folder, row } = taskOf<GrowthTask>();
const lap = await ROWS[row]?.((entryPoint) => import(pathToFileURL(moduleOf(folder, entryPoint)).href));

async function measure(count: number, laps: number): Promise<number> {
  globalThis.gc?.();
  const before = process.threadCpuUsage();
  for (let at = 0; at < laps; at += 1) await lap?.(count);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / count / laps;
}

await measure(WARM_UP, 1);
const few = await measure(FEW, LAPS);
say({ few, many: await measure(MANY, 1) } satisfies Grown);
