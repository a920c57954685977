/** One process of the fleet: all its calls at once, with default settings. */
import { once } from "node:events";
import { Redis } from "ioredis";
import { Client, path } from "../../dist/index.js";
import { redisRateLimiter } from "../../dist/redis/index.js";
import { CALL_HEADER } from "../rate-limit/experiment.ts";
import { say, taskOf } from "../support/part.ts";
import { CALLS_EACH, type MemberReport, type Ready, type Task } from "./experiment.ts";

const { name, service, redis } = taskOf<Task>();
const shared = redis === undefined ? undefined : new Redis(redis);
if (shared !== undefined) await once(shared, "ready");
const client = new Client({
  baseUrl: service.baseUrl,
  token: service.token,
  rateLimiter: shared && redisRateLimiter({ client: shared }),
});
say({ ready: true } satisfies Ready);
await once(process, "message");
const settled = await Promise.allSettled(
  Array.from({ length: CALLS_EACH }, (_, index) =>
    client.request({ method: "GET", path: path`/projects` }, { headers: { [CALL_HEADER]: `${name}-${index + 1}` } }),
  ),
);
const completed = settled.filter(({ status }) => status === "fulfilled").length;
say({ completed, failed: settled.length - completed } satisfies MemberReport);
