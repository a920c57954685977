import { after, now } from "../time/clock.ts";
import { leftOf, type Pause, type PauseAt, pauseDuration } from "./pause.ts";
import { Queue } from "./queue.ts";
import { NOTHING_READ, observed, type Quota, remainingOf, toSnapshot } from "./quota.ts";
import type { Admission, RateLimitedCall, RateLimitHead, RateLimitSnapshot, ReportedPause } from "./rate-limiter.ts";

/** A request without a response for this long no longer holds others back, except by `maxConcurrency`. In milliseconds. */
export const STALLED_AFTER_MS = 5_000;

const ADMITTED: Admission = { kind: "admitted", waited: false };
const ADMITTED_LATER: Admission = { kind: "admitted", waited: true };

/** A call that waits at a gate, or has been admitted by it. */
export interface Waiter {
  readonly call: RateLimitedCall;
  /** Orders calls: the lower, the earlier. */
  readonly position: number;
  /** Pauses in a row that it has caused, or waited for to their end. */
  pauses: number;
  /** The epoch of the pause that it has counted last. */
  counted: symbol | undefined;
  /** Ends its waiting, if it has begun to wait. It is in no queue then. */
  settle: ((admission: Admission) => void) | undefined;
}

/** When a request was sent: on the monotonic clock, and in which epoch of the gate. */
interface Start {
  readonly at: number;
  readonly epoch: symbol;
  /** It was sent ahead of the others, and has no response yet. */
  isProbe: boolean;
}

/**
 * The gate of one token. Calls wait in order of arrival; at most `maxConcurrency` are in flight, and never more than are
 * left. A 429 closes the gate for all of them; when the pause is over one request goes ahead (the probe), and its response
 * opens the gate or begins the next pause. The gate has a timer only while calls wait.
 *
 * What is `protected` is for a gate that shares its state with other processes.
 */
export class TokenGate {
  /** The latest that the service said of the token's limit. */
  protected quota: Quota = NOTHING_READ;
  /** Pauses in a row, without a request getting through. */
  protected refusals = 0;
  /** One request goes at a time, until one has got through. */
  protected mustProbe = false;
  readonly #queue = new Queue<Waiter>();
  /** Requests in flight, the oldest first. */
  readonly #inFlight = new Map<Waiter, Start>();
  #maxConcurrency = Number.POSITIVE_INFINITY;
  #pause: PauseAt | undefined;
  /** Changes with each pause that begins: the response to a request that was sent before says nothing about it. */
  #epoch = Symbol();
  #cancelWaking = (): void => {};

  /** Whether nothing depends on it. */
  get isIdle(): boolean {
    return this.#inFlight.size === 0 && this.#queue.first === undefined && this.pauseLeft() === undefined;
  }

  get snapshot(): RateLimitSnapshot | undefined {
    return toSnapshot(this.quota, this.pauseLeft());
  }

  /** In order, as they are now. */
  get waiting(): readonly Waiter[] {
    return this.#queue.members;
  }

  /** Admits a waiter at once, or refuses it. Otherwise it waits in the queue, at its place, until it is dismissed. */
  enter(waiter: Waiter): Admission | undefined {
    this.#inFlight.delete(waiter);
    this.#maxConcurrency = Math.min(this.#maxConcurrency, waiter.call.maxConcurrency);
    const refusal = this.#refusalOf(waiter);
    if (refusal === undefined) this.#queue.join(waiter);
    // Also after a refusal: the slot that the waiter may have held is free.
    this.pump();
    return this.#inFlight.has(waiter) ? ADMITTED : refusal;
  }

  /** Ends the waiting of one in the queue. */
  dismiss(waiter: Waiter, admission: Admission): void {
    this.#queue.leave(waiter);
    if (this.#queue.first === undefined) this.#wakeAt(Number.POSITIVE_INFINITY);
    waiter.settle?.(admission);
  }

  /** Reads the response to an admitted waiter. Returns the pause that it begins or prolongs. */
  report(waiter: Waiter, head: RateLimitHead): ReportedPause | undefined {
    const start = this.#inFlight.get(waiter);
    if (start === undefined) return undefined;
    this.quota = observed(this.quota, head, start.at);
    start.isProbe = false;
    const isCurrent = start.epoch === this.#epoch;
    if (head.status === 429) {
      // The 429 of a request that was sent before the pause began is about the same window: it prolongs that pause.
      if (isCurrent) this.beginPause(this.refusals + 1);
      this.#count(waiter);
      const pause = this.close(pauseDuration(head.retryAfterMs, Math.max(1, this.refusals), Math.random()));
      return { pauseMs: pause.lastsMs, waits: this.#refusalOf(waiter, pause) === undefined };
    }
    if (isCurrent) {
      waiter.pauses = 0;
      this.resetPauses();
      // A pause that was prolonged meanwhile ends with a probe of its own.
      if (this.pauseLeft() === undefined) this.mustProbe = false;
    }
    this.pump();
    return undefined;
  }

  /** Frees what an admitted waiter held. */
  release(waiter: Waiter): void {
    this.#inFlight.delete(waiter);
    this.pump();
  }

  /** What is left of the pause. */
  protected pauseLeft(): Pause | undefined {
    const left = this.#pause && leftOf(this.#pause, now());
    if (left === undefined) this.endPause();
    return left;
  }

  /** The pause is over: those who have waited for it count it. */
  protected endPause(): void {
    if (this.#pause === undefined) return;
    this.#pause = undefined;
    for (const waiter of this.waiting) this.#count(waiter);
  }

  /** A pause begins, the latest of so many in a row. */
  protected beginPause(inARow: number): void {
    this.refusals = inARow;
    this.#epoch = Symbol();
  }

  /** A request has got through: those who wait count from zero. */
  protected resetPauses(): void {
    if (this.refusals === 0) return;
    this.refusals = 0;
    for (const waiter of this.waiting) waiter.pauses = 0;
  }

  /** Nothing is sent for so long, or longer if a pause is running. Refuses those who do not wait for it, and returns it. */
  protected close(pause: Pause): Pause {
    const { askedMs, lastsMs } = this.pauseLeft() ?? pause;
    const merged = { askedMs: Math.max(askedMs, pause.askedMs), lastsMs: Math.max(lastsMs, pause.lastsMs) };
    this.#pause = { ...merged, at: now() };
    this.mustProbe = true;
    for (const waiter of this.waiting) {
      const refusal = this.#refusalOf(waiter);
      if (refusal !== undefined) this.dismiss(waiter, refusal);
    }
    this.pump();
    return merged;
  }

  /** Admits, in order, every waiter that there is room for, and wakes when time makes room for the next one. */
  protected pump(): void {
    let { first } = this.#queue;
    while (first !== undefined && this.#nextRoomAt() === 0) {
      this.send(first);
      this.dismiss(first, ADMITTED_LATER);
      first = this.#queue.first;
    }
    if (first !== undefined) this.#wakeAt(this.#nextRoomAt());
  }

  /** The request of a waiter begins now. */
  protected send(waiter: Waiter): void {
    this.#inFlight.delete(waiter);
    this.#inFlight.set(waiter, { at: now(), epoch: this.#epoch, isProbe: this.mustProbe });
  }

  /** When time makes room for one more request: 0 if there is room, `Infinity` if time alone makes none. */
  #nextRoomAt(): number {
    const { size } = this.#inFlight;
    if (size >= this.#maxConcurrency) return Number.POSITIVE_INFINITY;
    if (this.pauseLeft() !== undefined && this.#pause !== undefined) return this.#pause.at + this.#pause.lastsMs;
    const room = this.mustProbe ? 1 : Math.max(1, remainingOf(this.quota));
    if (size < room) return 0;
    // A probe waits for no others than another probe.
    const holding = [...this.#inFlight.values()].filter(({ isProbe }) => isProbe || !this.mustProbe);
    const stallsAt = (holding.at(-room)?.at ?? Number.NEGATIVE_INFINITY) + STALLED_AFTER_MS;
    return stallsAt > now() ? stallsAt : 0;
  }

  #count(waiter: Waiter): void {
    if (waiter.counted === this.#epoch) return;
    waiter.counted = this.#epoch;
    waiter.pauses += 1;
  }

  /** What a waiter is refused with, unless its call waits for the pause: it is short enough, and not one too many. */
  #refusalOf({ call, pauses, counted }: Waiter, pause = this.pauseLeft()): Admission | undefined {
    if (pause === undefined) return undefined;
    const inARow = counted === this.#epoch ? pauses : pauses + 1;
    const { askedMs, lastsMs } = pause;
    const waits = inARow <= call.maxPauses && askedMs <= call.maxPauseMs && now() + lastsMs < call.endsAt;
    return waits ? undefined : { kind: "refused", pauseMs: askedMs };
  }

  /** Wakes the gate at a moment, and no earlier; never at `Infinity`. */
  #wakeAt(at: number): void {
    this.#cancelWaking();
    this.#cancelWaking = after(at - now(), () => {
      // A pause ends with its timer: fake timers may leave the clock alone.
      this.endPause();
      this.pump();
    });
  }
}
