import { setImmediate as turn } from "node:timers/promises";

const MB = 1_000_000;

/** Code that nobody runs any more goes only after some collections. */
const COLLECTIONS = 4;

/** What is in use, in MB, once everything is collected that can be. Needs `--expose-gc`. */
export async function settledHeap(): Promise<number> {
  for (let times = 0; times < COLLECTIONS; times += 1) {
    await turn(); // what the present turn of the event loop holds is let go
    collectGarbage();
  }
  return process.memoryUsage().heapUsed / MB;
}

/** The most that the process ever had resident, in MB. */
export function peakRss(): number {
  return (process.resourceUsage().maxRSS * 1_024) / MB;
}

function collectGarbage(): void {
  if (globalThis.gc === undefined) throw new Error("needs --expose-gc");
  globalThis.gc();
}

/**
 * How far the last look is above the lowest before it: the loader lets go of several MB of its own at some point, which
 * must not hide what a client keeps.
 */
export function growthOf(looks: readonly number[]): number {
  return (looks.at(-1) ?? Number.NaN) - Math.min(...looks.slice(0, -1));
}
