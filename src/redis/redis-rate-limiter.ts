import type { Admission, Permit, RateLimitedCall, RateLimiter, RateLimitHead, ReportedPause } from "../client/index.ts";
import { withCallerStack } from "../core/errors/caller-stack.ts";
import { MemoryRateLimiter } from "../core/rate-limit/memory-rate-limiter.ts";
import type { Ticket } from "../core/rate-limit/token-gate.ts";
import { Deadline, STOPPED } from "../core/time/deadline.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { FleetGate } from "./fleet-gate.ts";
import { type Lease, Leases } from "./leases.ts";
import { parseRedisOptions, type RedisRateLimiterOptions } from "./options.ts";

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
export function redisRateLimiter(options: RedisRateLimiterOptions): RateLimiter {
  const checked = withCallerStack(redisRateLimiter, () => parseRedisOptions(options));
  const process = crypto.randomUUID();
  const connection = { ...checked, process, breaker: new CircuitBreaker(checked.onEvent) };
  const leases = new Leases(process, checked.leaseMs);
  const local = new MemoryRateLimiter((...of) => new FleetGate(of, connection, leases));
  return {
    enter: (call) => new FleetTicket(local, call),
    snapshot: (...of) => local.snapshot(...of),
  };
}

class FleetTicket implements Permit {
  readonly #limiter: MemoryRateLimiter<FleetGate>;
  readonly #local: Ticket;
  #gate: FleetGate | undefined;
  #lease: Lease | undefined;
  #wait: Deadline | undefined;

  constructor(limiter: MemoryRateLimiter<FleetGate>, call: RateLimitedCall) {
    this.#limiter = limiter;
    this.#local = limiter.enter(call);
  }

  acquire(token: string): Admission | Promise<Admission> {
    this.release();
    const gate = this.#limiter.gateOf(token, this.#local.call.service);
    this.#gate = gate;
    gate.use();
    const admission = this.#local.acquire(token);
    if (!("kind" in admission)) return this.#acquireSlot(gate, token, admission);
    if (admission.kind !== "admitted") return this.#pass(admission);
    if (gate.isShared) return this.#acquireSlot(gate, token, admission);
    this.#lease = gate.register();
    return admission;
  }

  report(head: RateLimitHead): ReportedPause | undefined {
    const pause = this.#local.report(head);
    this.#giveBack(head);
    return pause;
  }

  release(): void {
    this.#wait?.end();
    this.#leave();
    this.#local.release();
  }

  /** Waits for a slot among the other processes, whenever this one admits the call. */
  async #acquireSlot(gate: FleetGate, token: string, first: Admission | Promise<Admission>): Promise<Admission> {
    const deadline = Deadline.of(Number.POSITIVE_INFINITY, this.#local.call.signal);
    this.#wait = deadline;
    try {
      for (let admission = await first; ; admission = await this.#local.acquire(token)) {
        if (deadline.reason !== undefined) throw STOPPED;
        if (admission.kind !== "admitted") return this.#pass(admission);
        const lease = await gate.acquire(this.#local, deadline);
        if (lease !== undefined && deadline.reason !== undefined) {
          // The call has left in the turn in which it was admitted.
          gate.giveBack(lease, undefined);
          throw STOPPED;
        }
        this.#lease = lease;
        if (lease !== undefined) return admission;
        // It has to wait in this process again, for a pause that another one has told of, for example.
      }
    } catch (error) {
      if (error !== STOPPED) throw error;
      if (this.#wait === deadline) this.release();
      return { kind: "stopped" };
    } finally {
      deadline.release();
      if (this.#wait === deadline) this.#wait = undefined;
    }
  }

  #pass(admission: Admission): Admission {
    this.#leave();
    return admission;
  }

  #leave(): void {
    this.#giveBack(undefined);
    this.#gate?.unuse();
    this.#gate = undefined;
  }

  #giveBack(head: RateLimitHead | undefined): void {
    const lease = this.#lease;
    this.#lease = undefined;
    if (lease !== undefined) this.#gate?.giveBack(lease, head);
  }
}
