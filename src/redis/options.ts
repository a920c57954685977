import { ConfigError } from "../client/index.ts";
import {
  INTERVAL,
  INVALID,
  listeners,
  numbers,
  parseOptions,
  required,
  type Shape,
  strings,
  validator,
} from "../core/checks/validators.ts";
import { isObject } from "../core/checks/values.ts";
import { asErrorClass } from "../core/errors/as-error-class.ts";
import {
  type ClientErrors,
  type Evaluate,
  evaluateWith,
  hearErrors,
  type IoredisClient,
  type NodeRedisClient,
} from "./client.ts";
import type { FleetEvent } from "./events.ts";

/** Options of `redisRateLimiter`. */
export interface RedisRateLimiterOptions {
  /** A client of `ioredis` or of `redis` (node-redis), connected or connecting. It stays yours: it is never closed. */
  client: IoredisClient | NodeRedisClient;
  /** Processes with different namespaces share nothing. @default "project-automation" */
  namespace?: string | undefined;
  /** The longest that a call waits for one reply of Redis, in milliseconds. @default 250 */
  commandTimeoutMs?: number | undefined;
  /**
   * The time that a process which died still counts, in milliseconds: 500 or more. Above 5 000 it changes nothing for requests
   * in flight, since a request without a response for that long no longer counts. @default 5_000
   */
  leaseMs?: number | undefined;
  /** Receives an event when Redis is lost, and when it is found again. What it throws is ignored. */
  onEvent?: ((event: FleetEvent) => void) | undefined;
}

export interface RedisSettings {
  readonly evaluate: Evaluate;
  readonly errors: ClientErrors;
  readonly namespace: string;
  readonly commandTimeoutMs: number;
  readonly leaseMs: number;
  readonly onEvent: ((event: FleetEvent) => void) | undefined;
}

const SHORTEST_LEASE_MS = 500;
const LONGEST_LEASE_MS = 3_600_000;

const CLIENT = validator(
  "a client of ioredis or of redis (node-redis), such as new Redis() or createClient()",
  (client) => {
    const evaluate = evaluateWith(client);
    return evaluate !== undefined && isObject(client) ? { client, evaluate } : INVALID;
  },
);

const OPTIONS = {
  client: required(CLIENT),
  namespace: strings("1 to 100 letters, digits and any of _ . : -", (value) => /^[\w.:-]{1,100}$/.test(value)),
  commandTimeoutMs: INTERVAL,
  leaseMs: numbers(
    `a number of milliseconds from ${SHORTEST_LEASE_MS} to ${LONGEST_LEASE_MS}`,
    (value) => value >= SHORTEST_LEASE_MS && value <= LONGEST_LEASE_MS,
  ),
  onEvent: listeners<FleetEvent>(),
} satisfies Shape<RedisRateLimiterOptions>;

/** @throws `ConfigError` for the first invalid option */
export function parseRedisOptions(options: unknown): RedisSettings {
  return asErrorClass(ConfigError, () => {
    const { client: given, namespace, commandTimeoutMs, leaseMs, onEvent } = parseOptions(options, "options", OPTIONS);
    return {
      evaluate: given.evaluate,
      errors: hearErrors(given.client),
      namespace: namespace ?? "project-automation",
      commandTimeoutMs: commandTimeoutMs ?? 250,
      leaseMs: Math.ceil(leaseMs ?? 5_000),
      onEvent,
    };
  });
}
