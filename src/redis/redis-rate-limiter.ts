import { argument, STRING } from "../check.ts";
import { now } from "../clock.ts";
import { type MemoryPermit, MemoryRateLimiter } from "../rate-limit/memory-rate-limiter.ts";
import type {
  Admission,
  Permit,
  RateLimitAnswer,
  RateLimitedCall,
  RateLimiter,
  RateLimitSnapshot,
} from "../rate-limit/rate-limiter.ts";
import { TokenMap } from "../rate-limit/token-map.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { FleetGate } from "./fleet-gate.ts";
import { type Lease, Leases } from "./leases.ts";
import { checkOptions, type RedisRateLimiterOptions } from "./options.ts";

/** A rate limiter that several processes share. */
export interface SharedRateLimiter extends RateLimiter {
  /**
   * Ends the pause of a token in all processes at once; one request goes ahead then, as after any pause. For a pause
   * that should not be: a `Retry-After` of hours, say, that a proxy sent by mistake.
   *
   * @throws `ArgumentError` if the token is not a string, `ConnectionError` if Redis does not confirm within
   * `commandTimeoutMs` (the pause of this process is cleared all the same)
   */
  clearPause(token: string): Promise<void>;
}

/**
 * Creates the rate limiter of a fleet: all processes that use a token, with the same Redis and the same namespace, obey its
 * pauses, send one request ahead after each, never have more in flight than the service last said is left, and share
 * what is left in order of asking. Within each process, order and `maxConcurrency` are those of `memoryRateLimiter()`.
 *
 * It asks Redis once before each attempt and reports to it once after. Without Redis, calls go on under the limiter of
 * their own process; no call waits for Redis longer than `commandTimeoutMs`.
 *
 * @throws `ConfigError` if an option is invalid
 * @example
 * const client = new Client({ rateLimiter: redisRateLimiter({ client: new Redis() }) });
 */
export function redisRateLimiter(options: RedisRateLimiterOptions): SharedRateLimiter {
  return new RedisRateLimiter(options);
}

const STOPPED: Admission = { kind: "stopped" };
/** A slot that was granted longer ago is confirmed before it is used: a pause may have begun elsewhere meanwhile. */
const RECHECK_AFTER_MS = 100;

class RedisRateLimiter implements SharedRateLimiter {
  readonly #local = new MemoryRateLimiter();
  readonly #gates: TokenMap<FleetGate>;

  constructor(options: RedisRateLimiterOptions) {
    const { leaseMs, ...connection } = checkOptions(options);
    const process = crypto.randomUUID();
    const settings = {
      connection: { ...connection, process, breaker: new CircuitBreaker(connection.onEvent, "all") },
      leases: new Leases(process, leaseMs),
      local: this.#local,
    };
    this.#gates = new TokenMap((token) => new FleetGate(token, settings));
  }

  enter(call: RateLimitedCall): Permit {
    return new FleetPermit(call, this.#local.enter(call), this.#gates);
  }

  refresh(): void {
    this.#local.refresh();
  }

  snapshot(token: string): RateLimitSnapshot | undefined {
    return this.#local.snapshot(token);
  }

  async clearPause(token: string): Promise<void> {
    await this.#gates.get(argument.value(token, "token", STRING)).clearPause();
  }
}

/** A permit of this process, and a lease that the other processes count. */
class FleetPermit implements Permit {
  readonly #call: RateLimitedCall;
  readonly #local: MemoryPermit;
  readonly #gates: TokenMap<FleetGate>;
  #gate: FleetGate | undefined;
  #lease: Lease | undefined;

  constructor(call: RateLimitedCall, local: MemoryPermit, gates: TokenMap<FleetGate>) {
    this.#call = call;
    this.#local = local;
    this.#gates = gates;
  }

  acquire(token?: string): Admission | Promise<Admission> {
    const gate = this.#use(this.#call.token());
    const admission = this.#local.acquire(token);
    const isSettled = "kind" in admission && !(admission.kind === "admitted" && gate?.isShared);
    return isSettled ? this.#pass(admission) : this.#acquireSlot(admission);
  }

  confirm(token: string): boolean | Promise<boolean> {
    const gate = this.#use(token);
    if (!this.#local.confirm(token)) return false;
    if (gate === undefined) return true;
    if (gate.isShared) {
      const isFresh = this.#lease !== undefined && now() - this.#lease.heldSince < RECHECK_AFTER_MS;
      return isFresh || this.#recheck(gate, token);
    }
    this.#lease ??= gate.register();
    return true;
  }

  report(answer: RateLimitAnswer): number | undefined {
    const pauseMs = this.#local.report(answer);
    this.#giveBack(answer);
    return pauseMs;
  }

  release(): void {
    this.#leave();
    this.#local.release();
  }

  async #acquireSlot(first: Admission | Promise<Admission>): Promise<Admission> {
    for (let admission = await first; ; admission = await this.#local.acquire()) {
      if (admission.kind !== "admitted" || (await this.#hasSlot())) return this.#pass(admission);
      this.#local.release();
      if (this.#call.signal.aborted) return this.#pass(STOPPED);
    }
  }

  /** Waits for a slot among the other processes. */
  async #hasSlot(): Promise<boolean> {
    const token = this.#call.token();
    const gate = this.#use(token);
    if (gate === undefined || !gate.isShared) return true;
    const isStillAdmitted = (): boolean => this.#call.token() === token && this.#local.confirm(token);
    this.#lease = await gate.acquire({ signal: this.#call.signal, isStillAdmitted });
    if (this.#lease === undefined || isStillAdmitted()) return this.#lease !== undefined;
    this.#giveBack(undefined);
    return false;
  }

  /** Asks for a slot when the token has become known, or asks again when that has taken long. */
  async #recheck(gate: FleetGate, token: string): Promise<boolean> {
    const lease = this.#lease ?? gate.register();
    this.#lease = lease;
    const isGranted = await gate.ask(lease);
    // If the attempt has ended meanwhile, it has given everything back.
    return this.#lease === lease && isGranted && this.#local.confirm(token);
  }

  #pass(admission: Admission): Admission {
    if (admission.kind !== "admitted") this.#leave();
    return admission;
  }

  /** Uses the gate of a token from now on. There is none as long as the token is not known. */
  #use(token: string): FleetGate | undefined {
    const gate = token === "" ? undefined : this.#gates.get(token);
    if (gate === this.#gate) return gate;
    this.#leave();
    this.#gate = gate;
    gate?.enter();
    return gate;
  }

  #leave(): void {
    this.#giveBack(undefined);
    this.#gate?.exit();
    this.#gate = undefined;
  }

  #giveBack(answer: RateLimitAnswer | undefined): void {
    const lease = this.#lease;
    this.#lease = undefined;
    if (lease !== undefined) this.#gate?.giveBack(lease, answer);
  }
}
