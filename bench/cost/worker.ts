/** One client in one measure: runs laps as it is told to, and says what each took. */

import { say, taskOf } from "../support/process.ts";
import { clientOf } from "../support/results.ts";
import { works } from "./works.ts";

export interface LapTask {
  readonly work: keyof typeof works;
  readonly entrant: string;
  readonly packages: readonly string[];
  readonly port: number;
}

/** Times in µs of one call, on the clock and of the thread that runs the program; the heap on the way in MB. */
export interface Lap {
  readonly wall: number;
  readonly thread: number;
  readonly heap: readonly number[];
}

const { work, entrant, packages, port } = taskOf<LapTask>();
const { client, folder } = clientOf(entrant, packages);
const service = { baseUrl: `http://127.0.0.1:${port}/api/v1`, token: "pat_k3y1d_s3cr3ts3cr3ts3cr3ts3cr3t", folder };
const lap = await works[work]((fetch) => client.connect({ ...service, ...(fetch && { fetch }) }));

// No collection before a lap: a forced one makes V8 forget code that is warm, and calls then cost twice as much.
process.on("message", async (message) => {
  const calls = Number(message);
  const thread = process.threadCpuUsage();
  const startedAt = performance.now();
  const heap = await lap(calls);
  const wall = ((performance.now() - startedAt) * 1_000) / calls;
  const { user, system } = process.threadCpuUsage(thread);
  say({ wall, thread: (user + system) / calls, heap } satisfies Lap);
});
say({});
