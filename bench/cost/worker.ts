/** One client in one measure: runs laps as it is told to, and says what each took. */

import { performance } from "node:perf_hooks";
import { say, taskOf } from "../support/process.ts";
import { clientOf } from "../support/results.ts";
import { type Work, works } from "./works.ts";

export interface LapTask {
  readonly work: Work;
  readonly entrant: string;
  readonly packages: readonly string[];
  readonly origin: string;
}

/** Times in µs of one call: on the clock, and of the thread that runs the program. */
export interface Lap {
  readonly wall: number;
  readonly thread: number;
  /** The heap in MB on the way, and the most memory that the process has had. */
  readonly heap?: readonly number[];
  readonly peak?: number;
}

const { work, entrant, packages, origin } = taskOf<LapTask>();
const { client, folder } = clientOf(entrant, packages);
const token = "pat_k3y1d_s3cr3ts3cr3ts3cr3ts3cr3t";
const lap = await works[work]((fetch) =>
  client.connect({ baseUrl: `${origin}/api/v1`, token, folder, ...(fetch && { fetch }) }),
);

process.on("message", async (calls) => {
  say(await timed(Number(calls)));
});
say({});

// No collection before it: a forced one makes V8 forget code that is warm, and calls then cost twice as much.
async function timed(calls: number): Promise<Lap> {
  const thread = process.threadCpuUsage();
  const startedAt = performance.now();
  const seen = await lap(calls);
  const wall = ((performance.now() - startedAt) * 1_000) / calls;
  const { user, system } = process.threadCpuUsage(thread);
  return { wall, thread: (user + system) / calls, ...seen };
}
