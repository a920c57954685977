import { now } from "../time/clock.ts";
import type { RateLimitedCall } from "./rate-limiter.ts";

/** A request without a response for this long no longer holds others back, except by `maxConcurrency`. In milliseconds. */
export const STALLED_AFTER_MS = 5_000;

/** The longest time in flight of a request without a time limit. In milliseconds. */
const LONGEST_REQUEST_MS = 5 * 60_000;

/** A call that lives takes its slot, and ends its request by itself, within so long. Later a platform has dropped it. */
const GRACE_MS = 250;

/** The slot of a request in flight: since when, on the monotonic clock, and in which epoch of the gate. */
export interface Slot {
  readonly at: number;
  readonly epoch: symbol;
  /** The slot is free then, whether the call has ended or was dropped. */
  endsAt: number;
  /** It was sent ahead of the others, and has no response yet. */
  isProbe: boolean;
  /** No other request has been in flight beside it, and it was not sent as the probe. */
  isAlone: boolean;
}

/** A call that may have a slot. */
interface Holder {
  readonly call: RateLimitedCall;
}

/** The slots of a token: one for each request in flight. They end by the clock: the next call that looks sees it. */
export class Slots<Call extends Holder> {
  /** The oldest first. */
  readonly #slots = new Map<Call, Slot>();
  /** No slot ends before this moment. */
  #earliestEnd = Number.POSITIVE_INFINITY;
  /** The number of calls, waiting or in flight, by their `maxConcurrency`. */
  readonly #limits = new Map<number, number>();
  #maxConcurrency = Number.POSITIVE_INFINITY;

  get size(): number {
    this.#dropEnded();
    return this.#slots.size;
  }

  get(call: Call): Slot | undefined {
    return this.#slots.get(call);
  }

  /** A call waits for a slot, or has left: the smallest `maxConcurrency` of those that are here counts. */
  count({ call: { maxConcurrency } }: Call, change: 1 | -1): void {
    const calls = (this.#limits.get(maxConcurrency) ?? 0) + change;
    if (calls > 0) this.#limits.set(maxConcurrency, calls);
    else this.#limits.delete(maxConcurrency);
    const isLess = change > 0 && maxConcurrency < this.#maxConcurrency;
    if (isLess) this.#maxConcurrency = maxConcurrency;
    else if (calls === 0) this.#maxConcurrency = Math.min(...this.#limits.keys());
  }

  /** Gives a slot to a call that waited for it, from now on. The call has to take it. */
  give(call: Call, { epoch, isProbe }: Pick<Slot, "epoch" | "isProbe">): void {
    const at = now();
    const endsAt = at + GRACE_MS;
    this.#slots.delete(call);
    const isAlone = !isProbe && this.#slots.size === 0;
    const [other] = this.#slots.size === 1 ? this.#slots.values() : [];
    if (other !== undefined) other.isAlone = false;
    this.#slots.set(call, { at, epoch, endsAt, isProbe, isAlone });
    this.#earliestEnd = Math.min(this.#earliestEnd, endsAt);
  }

  /** Takes over the slot that was given, until the call's time limit. Returns whether there still is one. */
  take(call: Call): boolean {
    const slot = this.#slots.get(call);
    // A slot that has ended is still the call's until somebody looks for room.
    if (slot === undefined) return false;
    slot.endsAt = now() + Math.min(call.call.timeoutMs, LONGEST_REQUEST_MS) + GRACE_MS;
    return true;
  }

  /** Frees the slot of a call. Returns whether it had one. */
  free(call: Call): boolean {
    if (!this.#slots.delete(call)) return false;
    this.count(call, -1);
    return true;
  }

  /** The moment at which `maxConcurrency` leaves room, or may do so: 0 if it does now. */
  nextRoomAt(): number {
    return this.size < this.#maxConcurrency ? 0 : this.#earliestEnd;
  }

  /** The moment at which fewer than `room` requests hold the others back, or may do so: 0 if they are fewer now. */
  nextRoomWithin(room: number, isHolding: (slot: Slot) => boolean): number {
    if (this.#slots.size < room) return 0;
    const holding = [...this.#slots.values()]
      .filter(isHolding)
      .map(({ at, endsAt }) => Math.min(at + STALLED_AFTER_MS, endsAt))
      .filter((until) => until > now());
    return holding.length < room ? 0 : Math.min(...holding);
  }

  #dropEnded(): void {
    const time = now();
    if (time < this.#earliestEnd) return;
    this.#earliestEnd = Number.POSITIVE_INFINITY;
    for (const [call, { endsAt }] of this.#slots) {
      if (endsAt <= time) this.free(call);
      else this.#earliestEnd = Math.min(this.#earliestEnd, endsAt);
    }
  }
}
