import { setImmediate as turn } from "node:timers/promises";

const MB = 1_000_000;

/** What is in use, in MB, once everything is collected that can be. Needs `--expose-gc`. */
export async function heapAfterCollection(): Promise<number> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error("needs --expose-gc");
  // What the present turn of the event loop still holds, and what finalizers let go of, is collected with the next.
  for (let times = 0; times < 2; times += 1) {
    await turn();
    gc();
  }
  return process.memoryUsage().heapUsed / MB;
}

/** The most that the process ever had resident, in MB. */
export function peakRss(): number {
  return (process.resourceUsage().maxRSS * 1_024) / MB;
}
