import { ANYTHING, Check, FUNCTION, INTERVAL, kind, type Shape } from "../check.ts";
import { ConfigError } from "../errors/client-errors.ts";
import { type Evaluate, evaluateWith, type IoredisClient, type NodeRedisClient } from "./client.ts";
import type { FleetEvent } from "./events.ts";

/** How a fleet shares its rate limit. */
export interface RedisRateLimiterOptions {
  /** A client of `ioredis` or of `redis` (node-redis), connected or connecting. It stays the caller's. */
  client: IoredisClient | NodeRedisClient;
  /** Processes with different namespaces share nothing. Default `project-automation`. */
  namespace?: string | undefined;
  /** The longest that a call waits for one answer of Redis, in milliseconds. Default 250. */
  commandTimeoutMs?: number | undefined;
  /** A process that dies holds its place in the fleet for so long at most, in milliseconds. Default 5 000. */
  leaseMs?: number | undefined;
  /** Sees when Redis is lost and found. What it throws is ignored. */
  onEvent?: ((event: FleetEvent) => void) | undefined;
}

/** Options that have been checked. */
export interface CheckedOptions {
  readonly evaluate: Evaluate;
  readonly namespace: string;
  readonly commandTimeoutMs: number;
  readonly leaseMs: number;
  readonly onEvent: ((event: FleetEvent) => void) | undefined;
}

/** Shorter ones would run out on the way. */
const SHORTEST_LEASE_MS = 500;
const LONGEST_LEASE_MS = 3_600_000;

const OPTIONS: Shape<RedisRateLimiterOptions> = {
  client: ANYTHING,
  namespace: kind(
    "1 to 100 letters, digits and any of _ . : -",
    (value) => typeof value === "string" && /^[\w.:-]{1,100}$/.test(value),
  ),
  commandTimeoutMs: INTERVAL,
  leaseMs: kind(
    `a number of milliseconds from ${SHORTEST_LEASE_MS} to ${LONGEST_LEASE_MS}`,
    (value) => typeof value === "number" && value >= SHORTEST_LEASE_MS && value <= LONGEST_LEASE_MS,
  ),
  onEvent: FUNCTION,
};

const check: Check = new Check(ConfigError);

/** Throws `ConfigError` for the first option that cannot be. */
export function checkOptions(options: RedisRateLimiterOptions): CheckedOptions {
  const given = check.guarded(() => check.options(options, "options", OPTIONS));
  const evaluate = check.guarded(() => evaluateWith(given.client));
  if (evaluate === undefined) {
    check.fail(
      "options.client must be a client of ioredis or of redis (node-redis), such as new Redis() or createClient()",
    );
  }
  return {
    evaluate,
    namespace: given.namespace ?? "project-automation",
    commandTimeoutMs: given.commandTimeoutMs ?? 250,
    leaseMs: Math.ceil(given.leaseMs ?? 5_000),
    onEvent: given.onEvent,
  };
}
