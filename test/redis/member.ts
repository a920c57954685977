/** One process of a fleet: connects, waits for the word, makes its calls at once, and says what came of them. */
import { Client, path } from "../../src/client/index.ts";
import { redisRateLimiter } from "../../src/redis/index.ts";
import { type ClientKind, CONNECT } from "../support/redis-clients.ts";

export interface Task {
  readonly name: string;
  readonly kind: ClientKind;
  readonly redisPort: number;
  readonly baseUrl: string;
  readonly token: string;
  readonly calls: number;
  readonly commandTimeoutMs: number;
}

export interface Outcome {
  readonly completed: number;
  readonly errors: readonly string[];
  readonly events: readonly string[];
}

const task = JSON.parse(process.argv[2] ?? "") as Task;
process.once("disconnect", () => process.exit());
const redis = await CONNECT[task.kind](task.redisPort);
const events: string[] = [];
const client = new Client({
  baseUrl: task.baseUrl,
  token: task.token,
  retry: { rateLimitWaits: 100 },
  rateLimiter: redisRateLimiter({
    client: redis.client,
    commandTimeoutMs: task.commandTimeoutMs,
    leaseMs: 2_000,
    onEvent: ({ type }) => events.push(type),
  }),
});
process.once("message", () => void work());
process.send?.("ready");

async function work(): Promise<void> {
  const settled = await Promise.allSettled(
    Array.from({ length: task.calls }, (_, index) =>
      client.request({ method: "GET", path: path`/projects` }, { headers: { "x-call": `${task.name}-${index}` } }),
    ),
  );
  const errors = settled.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
  process.send?.({ completed: settled.length - errors.length, errors, events } satisfies Outcome);
}
