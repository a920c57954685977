import { Lane, type Waiter } from "./lane.ts";
import type {
  Admission,
  Permit,
  RateLimitAnswer,
  RateLimitedCall,
  RateLimiter,
  RateLimitSnapshot,
} from "./rate-limiter.ts";

/**
 * The rate limiter of one process: calls go in first-come order, at most `maxConcurrency` at once; a 429 stops all of
 * them until its `Retry-After` has elapsed, then one goes ahead to see. Each client makes its own; pass one to several
 * clients that share a token. It holds no timer while nobody waits.
 *
 * @example
 * const rateLimiter = memoryRateLimiter();
 * const reader = new Client({ rateLimiter });
 * const writer = new Client({ rateLimiter, timeoutMs: 5_000 });
 */
export function memoryRateLimiter(): RateLimiter {
  return new MemoryRateLimiter();
}

const STOPPED: Admission = { kind: "stopped" };

/** Tokens that are remembered while nobody uses them. */
const MOST_LANES = 16;

/** The class behind `memoryRateLimiter()`, for rate limiters that add to it. */
export class MemoryRateLimiter implements RateLimiter {
  /** By token: the limit is a token's, and a new one starts unpaused. */
  readonly #lanes = new Map<string, Lane>();
  #inFlight = 0;
  #maxConcurrency = Number.POSITIVE_INFINITY;
  #places = 0;

  enter(call: RateLimitedCall): MemoryTurn {
    this.#maxConcurrency = Math.min(this.#maxConcurrency, call.maxConcurrency);
    this.#places += 1;
    return new MemoryTurn(call, this.#places, this);
  }

  refresh(): void {
    const strangers = [...this.#lanes.values()].flatMap((lane) => lane.removeStrangers());
    for (const waiter of strangers) this.lane(waiter.call.token()).join(waiter);
    this.pump();
  }

  snapshot(token: string): RateLimitSnapshot | undefined {
    return this.#lanes.get(token)?.snapshot();
  }

  lane(token: string): Lane {
    const known = this.#lanes.get(token);
    if (known !== undefined) return known;
    // Tokens come and go, some with every call: the oldest that nobody waits for are forgotten.
    for (const [other, lane] of this.#lanes) {
      if (this.#lanes.size < MOST_LANES) break;
      if (lane.isIdle) this.#lanes.delete(other);
    }
    const lane = new Lane(token, () => this.pump());
    this.#lanes.set(token, lane);
    return lane;
  }

  freeSlot(): void {
    this.#inFlight -= 1;
  }

  /** Lets everybody go who may, in the order in which they came, whatever their tokens. */
  pump(): void {
    while (this.#inFlight < this.#maxConcurrency) {
      let next: Lane | undefined;
      for (const lane of this.#lanes.values()) if (lane.nextPlace < (next?.nextPlace ?? Infinity)) next = lane;
      if (next === undefined) return;
      this.#inFlight += 1;
      next.startFirst();
    }
  }
}

export class MemoryTurn implements Permit, Waiter {
  readonly call: RateLimitedCall;
  readonly place: number;
  before: Waiter | undefined;
  behind: Waiter | undefined;
  lane: Lane | undefined;
  startedAt = 0;
  pausesBefore = 0;
  spared = 0;
  streak = -1;
  readonly #limiter: MemoryRateLimiter;
  /** Where it has a slot. */
  #admittedTo: Lane | undefined;
  /** What came of its latest waiting. */
  #admission: Admission | undefined;
  #wake: ((admission: Admission) => void) | undefined;

  constructor(call: RateLimitedCall, place: number, limiter: MemoryRateLimiter) {
    this.call = call;
    this.place = place;
    this.#limiter = limiter;
  }

  acquire(): Admission | Promise<Admission> {
    this.#admission = undefined;
    this.#limiter.lane(this.call.token()).join(this);
    this.#limiter.pump();
    return this.#admission ?? this.#wait();
  }

  confirm(token: string): boolean {
    const admittedTo = this.#admittedTo;
    if (admittedTo === undefined) return false;
    const lane = this.#limiter.lane(token);
    if (lane === admittedTo && lane.stillHolds(this)) return true;
    // The token is another, or a pause has begun, and may even have ended: its slot is booked anew.
    admittedTo.finish(this);
    this.#admittedTo = undefined;
    const goes = lane.takeIn(this);
    if (!goes) this.#limiter.freeSlot();
    this.#limiter.pump();
    return goes;
  }

  report(answer: RateLimitAnswer): number | undefined {
    const pauseMs = this.#admittedTo?.answered(this, answer);
    if (pauseMs === undefined) this.#limiter.pump();
    return pauseMs;
  }

  release(): void {
    const lane = this.#admittedTo;
    if (lane === undefined) return;
    this.#admittedTo = undefined;
    lane.finish(this);
    this.#limiter.freeSlot();
    this.#limiter.pump();
  }

  admitted(lane: Lane): void {
    this.#admittedTo = lane;
  }

  settle(admission: Admission): void {
    this.#admission = admission;
    this.#wake?.(admission);
  }

  #wait(): Promise<Admission> {
    const { signal } = this.call;
    const leave = (): void => {
      if (this.lane === undefined) return;
      this.lane.leave(this);
      this.settle(STOPPED);
    };
    return new Promise((resolve) => {
      this.#wake = (admission) => {
        this.#wake = undefined;
        signal.removeEventListener("abort", leave);
        resolve(admission);
      };
      signal.addEventListener("abort", leave);
      // Joining may have run a listener of the caller's, which may have aborted.
      if (signal.aborted) leave();
    });
  }
}
