/** Rate limiters of several processes, as far as Redis can tell: each has a connection and a state of its own. */
import { setImmediate } from "node:timers/promises";
import { Redis } from "ioredis";
import type { Permit, RateLimiter, RateLimitHead } from "../../src/core/rate-limit/rate-limiter.ts";
import { type FleetEvent, type RedisRateLimiterOptions, redisRateLimiter } from "../../src/redis/index.ts";
import { LIMIT_MS } from "../support/limits.ts";
import { type ClientKind, CONNECT, type Connected } from "../support/redis-clients.ts";
import { RedisServer } from "../support/redis-server.ts";
import { BASE } from "../support/scripted-fetch.ts";

export const TOKEN = "pat_key_topsecret";
export const SERVICE = BASE;

export const OK: RateLimitHead = { status: 200, retryAfterMs: undefined, limit: undefined, remaining: undefined };
export const left = (remaining: number): RateLimitHead => ({ ...OK, limit: 50, remaining });
export const refused = (retryAfterMs: number): RateLimitHead => ({ ...left(0), status: 429, retryAfterMs });

export interface Member {
  readonly limiter: RateLimiter;
  readonly events: FleetEvent[];
  readonly connected: Connected;
}

/** A Redis of its own and the processes that share it; all gone when it is disposed of. */
export class Fleet implements AsyncDisposable {
  readonly redis: RedisServer;
  readonly admin: Redis;
  readonly #kind: ClientKind;
  readonly #connected: Connected[] = [];

  private constructor(redis: RedisServer, kind: ClientKind) {
    this.redis = redis;
    this.#kind = kind;
    this.admin = new Redis({ port: redis.port, host: "127.0.0.1", retryStrategy: () => 20 });
    this.admin.on("error", () => {});
  }

  static async start(kind: ClientKind): Promise<Fleet> {
    return new Fleet(await RedisServer.start(), kind);
  }

  async join(options: Omit<RedisRateLimiterOptions, "client"> = {}): Promise<Member> {
    const connected = await CONNECT[this.#kind](this.redis.port);
    this.#connected.push(connected);
    const events: FleetEvent[] = [];
    const onEvent = (event: FleetEvent): void => void events.push(event);
    const shared = { client: connected.client, commandTimeoutMs: LIMIT_MS, onEvent };
    return { limiter: redisRateLimiter({ ...shared, ...options }), events, connected };
  }

  /** Resolves when whatever the processes have asked of Redis has been answered, and what came of that, too. */
  async rest(): Promise<void> {
    for (let round = 0; round < 3; round += 1) {
      await setImmediate();
      await Promise.all(this.#connected.map((connected) => connected.ping()));
    }
  }

  /** Every script that was run so far. */
  async scriptsRun(): Promise<number> {
    const stats = await this.admin.info("commandstats");
    return Number(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1] ?? 0);
  }

  /** The only key of this kind, such as `slots`; `""` if there is none. */
  async key(kind: "known" | "slots" | "queue"): Promise<string> {
    return (await this.admin.keys(`*:${kind}`))[0] ?? "";
  }

  /** The leases, until when Redis keeps them, and the time there: on its clock, in milliseconds, all at one moment. */
  async slots(): Promise<{ readonly leases: readonly string[]; readonly endsAt: number; readonly now: number }> {
    const read = `
      local time = redis.call('TIME')
      local now = time[1] * 1000 + math.floor(time[2] / 1000)
      return { redis.call('ZRANGE', KEYS[1], 0, -1), now + math.max(0, redis.call('PTTL', KEYS[1])), now }`;
    const [leases, endsAt, now] = (await this.admin.eval(read, 1, await this.key("slots"))) as [
      string[],
      number,
      number,
    ]; // as it is written
    return { leases, endsAt, now };
  }

  /** The leases that Redis counts at the moment. */
  async leases(): Promise<string[]> {
    return await this.admin.zrange(await this.key("slots"), 0, "-1");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.admin.disconnect();
    for (const connected of this.#connected) await connected[Symbol.asyncDispose]();
    await this.redis[Symbol.asyncDispose]();
  }
}

/** A call that waits for whatever it has to, as the client's calls do. */
export class Call {
  readonly abort = new AbortController();
  readonly turn: Permit;
  readonly #token: string;

  constructor({ limiter }: Member, { maxPauses = 5, maxConcurrency = 10, token = TOKEN, service = SERVICE } = {}) {
    this.#token = token;
    this.turn = limiter.enter({
      service,
      maxConcurrency,
      maxPauses,
      maxPauseMs: Number.POSITIVE_INFINITY,
      endsAt: Number.POSITIVE_INFINITY,
      timeoutMs: 30_000,
      signal: this.abort.signal,
    });
  }

  /** Resolves when it may be sent, or with what came of waiting. */
  async start(): Promise<"sent" | "stopped" | "refused"> {
    const { kind } = await this.turn.acquire(this.#token);
    return kind === "admitted" ? "sent" : kind;
  }

  /** It was answered, and its body was read. */
  end(answer: RateLimitHead): number | undefined {
    const pause = this.turn.report(answer);
    this.turn.release();
    return pause?.pauseMs;
  }
}
