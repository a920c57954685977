/** Our client, in a process of its own: so many calls or walks at once, and the time of the thread for each. */

import { setImmediate as turn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { moduleOf } from "../support/manifest.ts";
import { say, taskOf } from "../support/process.ts";

/** A work that is begun so many times at once. */
export interface Queued {
  readonly many: number;
  readonly maxConcurrency?: number;
  readonly walks?: boolean;
  /** In the middle, the service refuses a request for 2 s. */
  readonly pauses?: boolean;
  readonly redis?: boolean;
}

export interface QueueTask {
  readonly folder: string;
  readonly queued: Queued;
  readonly count: number;
  /** Of the Redis that is shared, where the work asks for one. */
  readonly port: number | undefined;
}

const { folder, queued, count, port } = taskOf<QueueTask>();
const load = async <Module>(entryPoint: string): Promise<Module> =>
  (await import(pathToFileURL(moduleOf(folder, entryPoint)).href)) as Module; // the entry point has this type
const { Client } = await load<typeof import("../../dist/index.js")>(".");
const json = { "content-type": "application/json" };
let answered = 0;

/** The service answers after one turn of the event loop, as every real one does. */
async function fetch(): Promise<Response> {
  await turn();
  answered += 1;
  if (queued.pauses && answered === Math.round(count / 2)) {
    return new Response("{}", { status: 429, headers: { ...json, "retry-after": "2" } });
  }
  return new Response(queued.walks ? '{"data":[],"next_cursor":null}' : "{}", { headers: json });
}

async function rateLimiter() {
  if (port === undefined) return undefined;
  const { redisRateLimiter } = await load<typeof import("../../dist/redis/index.js")>("./redis");
  const { Redis } = await import("ioredis");
  return redisRateLimiter({ client: new Redis(port, "127.0.0.1") });
}

const client = new Client({
  baseUrl: "http://127.0.0.1/api/v1",
  token: "pat_key_secret",
  fetch,
  validation: "lenient",
  rateLimiter: await rateLimiter(),
  ...(queued.maxConcurrency === undefined ? {} : { maxConcurrency: queued.maxConcurrency }),
});
const run = (at: number): Promise<unknown> =>
  queued.walks ? client.projects.list().toArray() : client.sessions.get(String(at));

for (let at = 0; at < 2_000; at += 1) await run(at);
answered = 0;
const before = process.cpuUsage();
await Promise.all(Array.from({ length: count }, (_, at) => run(at)));
const { user, system } = process.cpuUsage(before);
say({ µs: (user + system) / count });
