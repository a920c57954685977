import { now } from "../time/clock.ts";
import { Queue } from "./queue.ts";
import type { Admission, RateLimitedCall } from "./rate-limiter.ts";

/** So many of those who wait are awake when time makes room: a platform may drop some of them with their timers. */
const WATCHERS = 16;
/** The others have timers, too, at random moments of so long for each that waits: about one of them looks in that time. */
const SPREAD_MS = 1;

/** A call that waits at a gate, or has been admitted by it. */
export interface Waiter {
  readonly call: RateLimitedCall;
  /** Orders calls: the lower, the earlier. */
  readonly position: number;
  /** Pauses in a row that it has caused, or waited for to their end. */
  pauses: number;
  /** The epoch of the pause that it has counted last. */
  counted: symbol | undefined;
  /** Ends its waiting. It is in no queue then. */
  settle(admission: Admission): void;
  /** It goes on waiting. Time may make room at this moment: it looks then, at the latest. */
  wakeAt(at: number): void;
}

/** Counts a pause once. */
export function countPause(waiter: Waiter, epoch: symbol): void {
  if (waiter.counted === epoch) return;
  waiter.counted = epoch;
  waiter.pauses += 1;
}

/** The calls that wait, in order. Each has a timer of its own. Few are awake at once, however many there are. */
export class Waiters extends Queue<Waiter> {
  /** The next moment at which some of them look. */
  #watchedAt = 0;
  /** The waiters that look then, and still wait. */
  #watchers: Set<Waiter> = new Set();

  override leave(waiter: Waiter): boolean {
    const isFirst = waiter === this.first;
    const hasLeft = super.leave(waiter);
    this.#watchers.delete(waiter);
    // Perhaps it was the only watcher whose timer still runs: watchers are chosen anew.
    if (hasLeft && !isFirst) this.#watchedAt = 0;
    return hasLeft;
  }

  /** Time may make room at this moment: some look then, those at the end among them, since the first may have been dropped. */
  watch(at: number): void {
    if (this.#watchers.size > 0 && now() < this.#watchedAt && this.#watchedAt <= at) return;
    this.#watchedAt = at;
    this.#watchers = new Set(this.spread(WATCHERS));
    for (const waiter of this.#watchers) waiter.wakeAt(at);
  }

  /** The moment until which one of them sleeps, where time may make room at this one: longer where many wait. */
  sleepUntil(at: number): number {
    return at + (this.size > WATCHERS ? Math.random() * this.size * SPREAD_MS : 0);
  }
}
