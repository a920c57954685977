import { after, now } from "../base/clock.ts";
import { leftOf, type Pause, type PauseAt, pauseDuration } from "./pause.ts";
import { Queue } from "./queue.ts";
import { NOTHING_READ, observed, type Quota, remainingOf, snapshotOf } from "./quota.ts";
import type { Admission, RateLimitedCall, RateLimitHead, RateLimitSnapshot, ReportedPause } from "./rate-limiter.ts";

/** A request without a response for this long no longer holds others back, except by `maxConcurrency`. In milliseconds. */
export const STALLED_AFTER_MS = 5_000;

const ADMITTED: Admission = { kind: "admitted", waited: false };
const ADMITTED_LATER: Admission = { kind: "admitted", waited: true };

/** A call that waits at a gate, or has been admitted by it. */
export interface Waiter {
  readonly call: RateLimitedCall;
  /** Orders calls: the lower, the earlier. */
  readonly place: number;
  /** Pauses in a row that it has caused, or waited for to their end. */
  pauses: number;
  /** The epoch of the pause that it has counted last. */
  counted: symbol | undefined;
  /** Ends its waiting. It is in no queue then. */
  settle(admission: Admission): void;
}

/** When a request was sent: on the monotonic clock, and in which epoch of the gate. */
interface Start {
  readonly at: number;
  readonly epoch: symbol;
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
  /** When something was last learnt about the token, by the local clock. */
  protected learntAt: number | undefined;
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
  #probe: Waiter | undefined;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;

  /** Whether nothing depends on it. */
  get isIdle(): boolean {
    return this.#inFlight.size === 0 && this.#queue.length === 0 && this.pauseLeft() === undefined;
  }

  get snapshot(): RateLimitSnapshot | undefined {
    return this.learntAt === undefined ? undefined : snapshotOf(this.quota, this.learntAt, this.pauseLeft());
  }

  /** Admits a waiter at once, or refuses it. Returns nothing if it has to `join` the queue. */
  enter(waiter: Waiter): Admission | undefined {
    this.#drop(waiter);
    this.#maxConcurrency = Math.min(this.#maxConcurrency, waiter.call.maxConcurrency);
    const { first } = this.#queue;
    if ((first === undefined || waiter.place < first.place) && this.#hasRoom()) {
      this.#send(waiter);
      return ADMITTED;
    }
    return this.#refusalOf(waiter);
  }

  /** Lets a waiter wait in the queue, at its place, until its `settle` is called. */
  join(waiter: Waiter): void {
    this.#queue.join(waiter);
    this.pump();
  }

  /** Takes a waiter out of the queue. */
  leave(waiter: Waiter): void {
    this.#queue.leave(waiter);
    if (this.#queue.length === 0) this.#setTimer();
  }

  /** Reads the response to an admitted waiter. Returns the pause that it begins or prolongs. */
  report(waiter: Waiter, head: RateLimitHead): ReportedPause | undefined {
    const start = this.#inFlight.get(waiter);
    if (start === undefined) return undefined;
    this.quota = observed(this.quota, head, { startedAt: start.at, now: now() });
    this.learntAt = Date.now();
    const isCurrent = start.epoch === this.#epoch;
    if (this.#probe === waiter) this.#probe = undefined;
    if (head.status === 429) {
      // The 429 of a request that was sent before the pause began is about the same window: it prolongs that pause.
      if (isCurrent) this.beginPauses(this.refusals + 1);
      this.#count(waiter);
      const pause = this.close(pauseDuration(head.retryAfterMs, Math.max(1, this.refusals), Math.random()));
      return { pauseMs: pause.lastsMs, waits: this.#waitsFor(pause, waiter) };
    }
    if (isCurrent) {
      waiter.pauses = 0;
      this.endPauses();
      // A pause that was prolonged meanwhile ends with a probe of its own.
      if (this.pauseLeft() === undefined) this.mustProbe = false;
    }
    this.pump();
    return undefined;
  }

  /** Frees what an admitted waiter held. */
  release(waiter: Waiter): void {
    this.#drop(waiter);
    this.pump();
  }

  /** What is left of the pause. Once it is over, those who have waited for it count it. */
  protected pauseLeft(): Pause | undefined {
    const left = this.#pause && leftOf(this.#pause, now());
    if (left === undefined && this.#pause !== undefined) this.endPause();
    return left;
  }

  protected endPause(): void {
    this.#pause = undefined;
    for (const waiter of this.#queue.members) this.#count(waiter);
  }

  /** A pause begins, the latest of so many in a row. */
  protected beginPauses(inARow: number): void {
    this.refusals = inARow;
    this.#epoch = Symbol();
  }

  /** A request has got through: those who wait count from zero. */
  protected endPauses(): void {
    if (this.refusals === 0) return;
    this.refusals = 0;
    for (const waiter of this.#queue.members) waiter.pauses = 0;
  }

  /** Nothing is sent for so long, or longer if a pause is running. Refuses those who do not wait for it, and returns it. */
  protected close(pause: Pause): Pause {
    const { askedMs, lastsMs } = this.pauseLeft() ?? pause;
    const merged = { askedMs: Math.max(askedMs, pause.askedMs), lastsMs: Math.max(lastsMs, pause.lastsMs) };
    this.#pause = { ...merged, at: now() };
    this.mustProbe = true;
    for (const waiter of this.#queue.members) {
      const refusal = this.#refusalOf(waiter);
      if (refusal === undefined) continue;
      this.#queue.leave(waiter);
      waiter.settle(refusal);
    }
    this.pump();
    return merged;
  }

  /** Admits, in order, every waiter that there is room for. */
  protected pump(): void {
    let { first } = this.#queue;
    while (first !== undefined && this.#hasRoom()) {
      this.#queue.leave(first);
      this.#send(first);
      first.settle(ADMITTED_LATER);
      first = this.#queue.first;
    }
    this.#setTimer();
  }

  /** An admitted waiter had to wait for other processes: its request begins now. */
  protected sendNow(waiter: Waiter): void {
    this.#drop(waiter);
    this.#send(waiter);
  }

  #drop(waiter: Waiter): void {
    this.#inFlight.delete(waiter);
    // It got no response: another one has to go ahead.
    if (this.#probe === waiter) this.#probe = undefined;
  }

  #send(waiter: Waiter): void {
    this.#inFlight.set(waiter, { at: now(), epoch: this.#epoch });
    if (this.mustProbe) this.#probe = waiter;
  }

  #hasRoom(): boolean {
    const inFlight = this.#inFlight.size;
    if (inFlight >= this.#maxConcurrency || this.pauseLeft() !== undefined) return false;
    if (this.mustProbe) return this.#probe === undefined || this.#stallsAt(this.#probe) <= now();
    const room = Math.max(1, remainingOf(this.quota, now()));
    return inFlight < room || this.#holders().length < room;
  }

  /** The requests that hold others back, the oldest first: those that are not stalled. */
  #holders(): Waiter[] {
    const waiters = [...this.#inFlight.keys()];
    return waiters.filter((waiter) => this.#stallsAt(waiter) > now());
  }

  #stallsAt(waiter: Waiter): number {
    return (this.#inFlight.get(waiter)?.at ?? 0) + STALLED_AFTER_MS;
  }

  #count(waiter: Waiter): void {
    if (waiter.counted === this.#epoch) return;
    waiter.counted = this.#epoch;
    waiter.pauses += 1;
  }

  #refusalOf(waiter: Waiter): Admission | undefined {
    const left = this.pauseLeft();
    return left === undefined || this.#waitsFor(left, waiter) ? undefined : { kind: "refused", pauseMs: left.askedMs };
  }

  /** Whether its call waits for the pause: it is short enough, and not one too many. */
  #waitsFor({ askedMs, lastsMs }: Pause, { call, pauses, counted }: Waiter): boolean {
    const inARow = counted === this.#epoch ? pauses : pauses + 1;
    return inARow <= call.maxPauses && askedMs <= call.maxPauseMs && now() + lastsMs < call.endsAt;
  }

  /** While calls wait, wakes the gate when time alone makes room: at the end of the pause, or when a request stalls. */
  #setTimer(): void {
    const at = this.#queue.length === 0 ? Number.POSITIVE_INFINITY : this.#nextChange();
    if (at === (this.#timer?.at ?? Number.POSITIVE_INFINITY)) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (at === Number.POSITIVE_INFINITY) return;
    const cancel = after(at - now(), () => {
      this.#timer = undefined;
      this.pump();
    });
    this.#timer = { at, cancel };
  }

  #nextChange(): number {
    if (this.pauseLeft() !== undefined && this.#pause !== undefined) return this.#pause.at + this.#pause.lastsMs;
    if (this.#inFlight.size >= this.#maxConcurrency) return Number.POSITIVE_INFINITY;
    // The pause may have ended since the queue was looked at.
    if (this.#hasRoom()) return now();
    return Math.min(...this.#holders().map((waiter) => this.#stallsAt(waiter)));
  }
}
