import type { Lane } from "../rate-limit/lane.ts";
import { MemoryRateLimiter, type MemoryTurn } from "../rate-limit/memory-rate-limiter.ts";
import type {
  Admission,
  Permit,
  RateLimitAnswer,
  RateLimitedCall,
  RateLimiter,
  RateLimitSnapshot,
} from "../rate-limit/rate-limiter.ts";
import { Link } from "./link.ts";
import { checkOptions, type RedisRateLimiterOptions } from "./options.ts";
import { SharedLane, type Sharing, type Slot } from "./shared-lane.ts";
import { tokenKey } from "./token-key.ts";

/**
 * The rate limiter of a fleet: all processes that use a token, with the same Redis and the same namespace, obey its pauses,
 * send one request ahead after each, and never have more in flight than the service last said is left. Within each
 * process the order and `maxConcurrency` are those of `memoryRateLimiter()`.
 *
 * It asks Redis once before each attempt and tells it once after. Without Redis, calls go on under the limiter of
 * their own process; none waits for it longer than `commandTimeoutMs`. Throws `ConfigError` for options that cannot be.
 *
 * @example
 * const client = new Client({ rateLimiter: redisRateLimiter({ client: new Redis() }) });
 */
export function redisRateLimiter(options: RedisRateLimiterOptions): RateLimiter {
  return new RedisRateLimiter(options);
}

class RedisRateLimiter implements RateLimiter {
  readonly local = new MemoryRateLimiter();
  readonly link: Link;
  readonly #namespace: string;
  readonly #sharing: Sharing;
  readonly #lanes = new WeakMap<Lane, SharedLane>();
  /** Slots of this limiter, among those of all others. */
  readonly #name = crypto.randomUUID();
  #slots = 0;

  constructor(options: RedisRateLimiterOptions) {
    const { evaluate, namespace, commandTimeoutMs, leaseMs, onEvent } = checkOptions(options);
    this.#namespace = namespace;
    this.link = new Link(evaluate, commandTimeoutMs, onEvent);
    this.#sharing = { link: this.link, leaseMs, pump: () => this.local.pump() };
  }

  enter(call: RateLimitedCall): Permit {
    return new RedisTurn(call, this);
  }

  refresh(): void {
    this.local.refresh();
  }

  snapshot(token: string): RateLimitSnapshot | undefined {
    return this.local.snapshot(token);
  }

  lane(token: string): SharedLane {
    const lane = this.local.lane(token);
    const known = this.#lanes.get(lane);
    if (known !== undefined) return known;
    const shared = new SharedLane(lane, this.#keys(token), this.#sharing);
    this.#lanes.set(lane, shared);
    return shared;
  }

  nextSlot(): string {
    this.#slots += 1;
    return `${this.#name}:${this.#slots}`;
  }

  async #keys(token: string): Promise<readonly string[]> {
    // In braces, so that the nodes of a cluster keep both in one place.
    const base = `${this.#namespace}:{${await tokenKey(this.#namespace, token)}}`;
    return [`${base}:known`, `${base}:slots`];
  }
}

class RedisTurn implements Permit {
  readonly #call: RateLimitedCall;
  readonly #local: MemoryTurn;
  readonly #limiter: RedisRateLimiter;
  #lane: SharedLane | undefined;
  #slot: Slot | undefined;

  constructor(call: RateLimitedCall, limiter: RedisRateLimiter) {
    this.#call = call;
    this.#local = limiter.local.enter(call);
    this.#limiter = limiter;
  }

  acquire(): Admission | Promise<Admission> {
    // Who waits for a pause may be the only one who knows of it.
    if (!this.#limiter.link.isUp) this.#limiter.lane(this.#call.token()).tryAgain();
    return this.#local.acquire();
  }

  confirm(token: string): boolean | Promise<boolean> {
    if (!this.#local.confirm(token)) return false;
    const lane = this.#limiter.lane(token);
    if (this.#limiter.link.isUp && lane.isCrowded) return false;
    const slot = lane.enter(this.#limiter.nextSlot());
    this.#lane = lane;
    this.#slot = slot;
    if (this.#limiter.link.isUp) return this.#ask(token, lane, slot);
    lane.tryAgain();
    return true;
  }

  report(answer: RateLimitAnswer): number | undefined {
    const slot = this.#slot;
    this.#slot = undefined;
    // Whoever goes next asks Redis only after it was told this.
    this.#lane?.endHold();
    const pauseMs = this.#local.report(answer);
    if (slot !== undefined) this.#lane?.answered(slot, answer);
    return pauseMs;
  }

  release(): void {
    this.#leave();
    this.#local.release();
  }

  async #ask(token: string, lane: SharedLane, slot: Slot): Promise<boolean> {
    const verdict = await lane.take(slot);
    const isFree = verdict === undefined || verdict === "granted";
    // The attempt may have ended meanwhile, and given everything back. If not, the local lane may have learned something
    // new, and without an answer it decides alone.
    const goes = this.#slot === slot && isFree && this.#local.confirm(token);
    if (!goes && this.#slot === slot) this.#leave();
    this.#limiter.local.pump();
    return goes;
  }

  #leave(): void {
    const slot = this.#slot;
    this.#slot = undefined;
    if (slot !== undefined) this.#lane?.left(slot);
  }
}
