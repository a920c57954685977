import { now } from "../time/clock.ts";
import { leftOf, type Pause, type PauseAt, pauseDuration } from "./pause.ts";
import { Queue } from "./queue.ts";
import { NOTHING_READ, observed, type Quota, remainingOf, toSnapshot } from "./quota.ts";
import type { Admission, RateLimitedCall, RateLimitHead, RateLimitSnapshot, ReportedPause } from "./rate-limiter.ts";
import { Slots } from "./slots.ts";

const ADMITTED: Admission = { kind: "admitted" };
const STOPPED_WAITING: Admission = { kind: "stopped" };

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
  wake(at: number): void;
}

/**
 * The gate of one token. Calls wait in order of arrival; at most `maxConcurrency` are in flight, and never more than are
 * left. A 429 closes the gate for all of them; when the pause is over one request goes ahead (the probe), and its response
 * opens the gate or begins the next pause.
 *
 * The gate has no timer: each waiter has one, since a platform may drop a call with its timers. A slot ends by the clock,
 * for whoever looks next.
 *
 * The order of one wait: `enter` joins the queue; `pump` gives a slot (`send`) and settles the waiter; the waiter has to
 * `take` the slot within a moment, or another call gets it. `wake` and `look` are for time that makes room meanwhile.
 *
 * `protected` members are for a gate that shares its state with other processes.
 */
export class TokenGate {
  /** The latest that the service said of the token's limit. */
  protected quota: Quota = NOTHING_READ;
  /** Pauses in a row, without a request getting through. */
  protected refusals = 0;
  /** One request goes at a time, until one has got through. */
  protected mustProbe = false;
  readonly #queue = new Queue<Waiter>();
  /** Requests in flight. */
  readonly #slots = new Slots<Waiter>();
  #pause: PauseAt | undefined;
  /** No waiter sleeps beyond this moment. */
  #asleepUntil = 0;
  /** Changes with each pause that begins: the response to a request that was sent before says nothing about it. */
  #epoch = Symbol();

  /** `true` if nothing depends on it. */
  get isIdle(): boolean {
    return this.#slots.size === 0 && this.#queue.first === undefined && this.pauseLeft() === undefined;
  }

  get snapshot(): RateLimitSnapshot | undefined {
    return toSnapshot(this.quota, this.pauseLeft());
  }

  /** In order, as they are now. */
  get waiting(): readonly Waiter[] {
    return this.#queue.members;
  }

  /** Admits a waiter at once, or refuses it. Otherwise it waits in the queue, at its position, until it is settled. */
  enter(waiter: Waiter): Admission | undefined {
    const refusal = this.#refusalOf(waiter);
    if (refusal !== undefined) return refusal;
    this.#slots.count(waiter, 1);
    this.#queue.join(waiter);
    this.pump();
    return this.take(waiter) ? ADMITTED : undefined;
  }

  /** Takes over the slot of an admitted waiter, until its time limit. Returns whether there still is one. */
  take(waiter: Waiter): boolean {
    return this.#slots.take(waiter);
  }

  /** Ends the waiting of one in the queue: those behind it may have room now. */
  dismiss(waiter: Waiter, admission: Admission): void {
    if (!this.#queue.leave(waiter)) return;
    this.#slots.count(waiter, -1);
    waiter.settle(admission);
    this.pump();
  }

  /** Reads the response to an admitted waiter. Returns the pause that it begins or prolongs. */
  report(waiter: Waiter, head: RateLimitHead): ReportedPause | undefined {
    const slot = this.#slots.get(waiter);
    // A 429 is a fact about the token, also of a request that took longer than its slot lasts.
    if (slot === undefined && head.status !== 429) return undefined;
    this.quota = observed(this.quota, head, slot?.at ?? 0);
    if (slot !== undefined) slot.isProbe = false;
    const isCurrent = slot?.epoch === this.#epoch;
    if (head.status === 429) {
      // The 429 of a request that was sent before the pause began is about the same window: it prolongs that pause.
      if (isCurrent) this.beginPause(this.refusals + 1);
      this.#countPause(waiter);
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

  /** Frees the slot of an admitted waiter, or its place in the queue. */
  release(waiter: Waiter): void {
    if (this.#slots.free(waiter)) this.pump();
    else this.dismiss(waiter, STOPPED_WAITING);
  }

  /** It is `at` by the timer of a waiter: time may have made room. */
  look(at: number): void {
    // A pause ends with its timers: fake timers may leave the clock alone.
    if (this.#pause !== undefined && this.#pause.at + this.#pause.lastsMs <= at) this.endPause();
    this.pump();
  }

  /** The rest of the pause. */
  protected pauseLeft(): Pause | undefined {
    const left = this.#pause && leftOf(this.#pause, now());
    if (left === undefined) this.endPause();
    return left;
  }

  /** The pause is over: those who have waited for it count it. */
  protected endPause(): void {
    if (this.#pause === undefined) return;
    this.#pause = undefined;
    for (const waiter of this.waiting) this.#countPause(waiter);
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

  /** Admits, in order, every waiter that there is room for. Time may make room for the others earlier than they know. */
  protected pump(): void {
    for (let { first } = this.#queue; first !== undefined; first = this.#queue.first) {
      const at = this.nextRoomAt();
      if (at > 0) {
        this.#wakeBy(at);
        return;
      }
      this.#queue.leave(first);
      this.send(first);
      first.settle(ADMITTED);
    }
  }

  /** The request of a waiter begins now; `take` has to follow. */
  protected send(waiter: Waiter): void {
    this.#slots.give(waiter, { epoch: this.#epoch, isProbe: this.mustProbe });
  }

  /**
   * The request of an admitted waiter begins later than it was admitted: it had to wait for other processes. Returns
   * whether it still has its slot.
   */
  protected restart(waiter: Waiter): boolean {
    if (!this.take(waiter)) return false;
    this.send(waiter);
    return this.take(waiter);
  }

  /** The moment at which time makes room for one more request, or may do so: 0 if there is room. */
  nextRoomAt(): number {
    if (this.pauseLeft() !== undefined && this.#pause !== undefined) return this.#pause.at + this.#pause.lastsMs;
    const at = this.#slots.nextRoomAt();
    if (at > 0) return at;
    const room = this.mustProbe ? 1 : Math.max(1, remainingOf(this.quota));
    // A probe waits for no others than another probe.
    return this.#slots.nextRoomWithin(room, ({ isProbe }) => isProbe || !this.mustProbe);
  }

  /** The moment until which a waiter sleeps. */
  sleepUntil(): number {
    const at = this.nextRoomAt();
    this.#asleepUntil = Math.max(this.#asleepUntil, at);
    return at;
  }

  /** Nobody sleeps for longer: whoever is first in the queue may have been dropped. */
  #wakeBy(at: number): void {
    if (at >= this.#asleepUntil) return;
    this.#asleepUntil = at;
    for (const waiter of this.waiting) waiter.wake(at);
  }

  #countPause(waiter: Waiter): void {
    if (waiter.counted === this.#epoch) return;
    waiter.counted = this.#epoch;
    waiter.pauses += 1;
  }

  /** The refusal of a waiter whose call does not wait for the pause: it is too long, or one too many. */
  #refusalOf({ call, pauses, counted }: Waiter, pause = this.pauseLeft()): Admission | undefined {
    if (pause === undefined) return undefined;
    const inARow = counted === this.#epoch ? pauses : pauses + 1;
    const { askedMs, lastsMs } = pause;
    const waits = inARow <= call.maxPauses && askedMs <= call.maxPauseMs && now() + lastsMs < call.endsAt;
    return waits ? undefined : { kind: "refused", pauseMs: askedMs };
  }
}
