import { setTimeout as sleep } from "node:timers/promises";

/**
 * So many turns of the event loop, each of a millisecond or more. What is under way in this process goes on in each of
 * them, on a machine however busy: so they stand for time where everything is in one process.
 */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await sleep(1);
}
