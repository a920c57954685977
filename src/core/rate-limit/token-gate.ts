import { now } from "../time/clock.ts";
import type { GateState } from "./gate-state.ts";
import { distanceLeft, narrowed, type Pace, paceAt, UNPACED, widened } from "./pace.ts";
import { leftOf, type Pause, type PauseAt, pauseDuration } from "./pause.ts";
import { NOTHING_READ, observed, type Quota, remainingOf, toSnapshot } from "./quota.ts";
import type { Admission, RateLimitHead, RateLimitSnapshot, ReportedPause } from "./rate-limiter.ts";
import { type Slot, Slots } from "./slots.ts";
import { countPause, type Waiter, Waiters } from "./waiters.ts";

const ADMITTED: Admission = { kind: "admitted" };
const STOPPED_WAITING: Admission = { kind: "stopped" };

/**
 * The gate of one token. Calls wait in order of arrival; at most `maxConcurrency` are in flight, and never more than are
 * left. A 429 closes the gate for all of them; when the pause is over one request goes ahead (the probe), and its response
 * opens the gate or begins the next pause.
 *
 * Three verbs move a call: `enter`, `report` and `leave`. `state` changes nothing. `learn` takes over what others know.
 *
 * The gate has no timer: each waiter has one, since a platform may drop a call with its timers. The order of one wait is in
 * `MemoryPermit`.
 */
export class TokenGate {
  #quota: Quota = NOTHING_READ;
  #refusals = 0;
  #mustProbe = false;
  #pause: PauseAt | undefined;
  /** The pace counts where the service does not say how many requests are left. */
  #pace: Pace = UNPACED;
  /** When the latest request was sent. */
  #sentAt = 0;
  readonly #waiters = new Waiters();
  /** Requests in flight. */
  readonly #slots = new Slots<Waiter>();
  /** Changes with each pause that begins: the response to a request that was sent before says nothing about it. */
  #epoch = Symbol();

  /** `true` if nothing depends on it. */
  get isIdle(): boolean {
    return this.#slots.size === 0 && this.#waiters.size === 0 && this.pauseLeft === undefined;
  }

  get state(): GateState {
    const [quota, refusals, mustProbe, pace] = [this.#quota, this.#refusals, this.#mustProbe, this.#pace];
    return { quota, pause: this.pauseLeft, refusals, mustProbe, pace };
  }

  get snapshot(): RateLimitSnapshot | undefined {
    return toSnapshot(this.#quota, this.pauseLeft);
  }

  /** The rest of the pause. */
  get pauseLeft(): Pause | undefined {
    return this.#pause && leftOf(this.#pause, now());
  }

  /** Admits a waiter at once, or refuses it. Otherwise it waits in the queue, at its position, until it is settled. */
  enter(waiter: Waiter): Admission | undefined {
    this.#countTime();
    const refusal = this.#refusalOf(waiter);
    if (refusal !== undefined) return refusal;
    this.#slots.count(waiter, 1);
    this.#waiters.join(waiter);
    this.#pump();
    return this.take(waiter) ? ADMITTED : undefined;
  }

  /** Takes over the slot of an admitted waiter, until its time limit. Returns whether there still is one. */
  take(waiter: Waiter): boolean {
    return this.#slots.take(waiter);
  }

  /** Reads the response to an admitted waiter. Returns the pause that it begins or prolongs. */
  report(waiter: Waiter, head: RateLimitHead): ReportedPause | undefined {
    this.#countTime();
    const slot = this.#slots.get(waiter);
    // A 429 is a fact about the token, also of a request that took longer than its slot lasts.
    if (slot === undefined && head.status !== 429) return undefined;
    this.#quota = observed(this.#quota, head, slot?.at ?? 0);
    if (slot !== undefined) slot.isProbe = false;
    const isCurrent = slot?.epoch === this.#epoch;
    if (head.status === 429) {
      // The 429 of a request that was sent before the pause began is about the same window: it prolongs that pause.
      if (isCurrent) this.#beginPause(this.#refusals + 1, slot);
      countPause(waiter, this.#epoch);
      const pause = this.#close(pauseDuration(head.retryAfterMs, Math.max(1, this.#refusals), Math.random()));
      return { pauseMs: pause.lastsMs, waits: this.#refusalOf(waiter, pause) === undefined };
    }
    if (isCurrent) {
      waiter.pauses = 0;
      this.#resetPauses();
      this.#pace = widened(paceAt(this.#pace, now()), slot.at);
      // A pause that was prolonged meanwhile ends with a probe of its own.
      if (this.#pause === undefined) this.#mustProbe = false;
    }
    this.#pump();
    return undefined;
  }

  /** Frees the slot of an admitted waiter, or ends its waiting: those behind it may have room now. */
  leave(waiter: Waiter, admission: Admission = STOPPED_WAITING): void {
    if (this.#waiters.leave(waiter)) {
      this.#slots.count(waiter, -1);
      waiter.settle(admission);
    } else if (!this.#slots.free(waiter)) return;
    this.#pump();
  }

  /** The timer of a waiter says that it is `at`: time may have made room. */
  look(at: number): void {
    // A pause ends with its timers: fake timers may leave the clock alone.
    if (this.#pause !== undefined && this.#pause.at + this.#pause.lastsMs <= at) this.#endPause();
    this.#pump();
  }

  /** The moment until which a waiter sleeps. */
  sleepUntil(): number {
    return this.#waiters.sleepUntil(this.nextRoomAt());
  }

  /** Takes over what other processes know. The pause of this process stays: the others may not know of it yet. */
  learn({ quota, pause, refusals, mustProbe, pace }: GateState): void {
    this.#countTime();
    this.#quota = quota;
    if (pause === undefined && this.#pause !== undefined) return;
    if (refusals < this.#refusals) this.#resetPauses();
    if (refusals > this.#refusals) this.#beginPause(refusals);
    this.#pace = pace;
    if (pause !== undefined) this.#close(pause);
    else {
      this.#mustProbe = mustProbe;
      this.#pump();
    }
  }

  /** Ends the pause: one request goes ahead then. */
  clear(): void {
    this.#endPause();
    this.#pump();
  }

  /**
   * The request of an admitted waiter begins later than it was admitted: it had to wait for other processes. Returns
   * whether it still has its slot.
   */
  restart(waiter: Waiter): boolean {
    if (!this.take(waiter)) return false;
    this.#send(waiter);
    return this.take(waiter);
  }

  /** The moment at which time makes room for one more request, or may do so: 0 if there is room. */
  nextRoomAt(): number {
    if (this.#pause !== undefined && this.pauseLeft !== undefined) return this.#pause.at + this.#pause.lastsMs;
    const at = this.#slots.nextRoomAt();
    if (at > 0) return at;
    // A probe waits for no others than another probe.
    if (this.#mustProbe) return this.#slots.nextRoomWithin(1, ({ isProbe }) => isProbe);
    const left = remainingOf(this.#quota);
    if (left < Number.POSITIVE_INFINITY) return this.#slots.nextRoomWithin(Math.max(1, left), () => true);
    const pace = paceAt(this.#pace, now());
    const leftMs = distanceLeft(pace, now() - this.#sentAt);
    return leftMs > 0 ? now() + leftMs : this.#slots.nextRoomWithin(pace.width, () => true);
  }

  /** The pause may be over by now. */
  #countTime(): void {
    if (this.pauseLeft === undefined) this.#endPause();
  }

  /** The pause is over: those who have waited for it count it. */
  #endPause(): void {
    if (this.#pause === undefined) return;
    this.#pause = undefined;
    this.#waiters.each((waiter) => countPause(waiter, this.#epoch));
  }

  /** A pause begins, the latest of so many in a row: by the 429 to a request of this process, or in another one. */
  #beginPause(inARow: number, slot?: Slot): void {
    const at = now();
    const { size: inFlight } = this.#slots;
    this.#pace = narrowed(this.#pace, { at, sentAt: slot?.at ?? at, inFlight, wasAlone: slot?.isAlone === true });
    this.#refusals = inARow;
    this.#epoch = Symbol();
  }

  /** A request has got through: those who wait count from zero. */
  #resetPauses(): void {
    if (this.#refusals === 0) return;
    this.#refusals = 0;
    this.#waiters.each((waiter) => {
      waiter.pauses = 0;
    });
  }

  /** Nothing is sent for so long, or longer if a pause is running. Refuses those who do not wait for it, and returns it. */
  #close(pause: Pause): Pause {
    const { askedMs, lastsMs } = this.pauseLeft ?? pause;
    const merged = { askedMs: Math.max(askedMs, pause.askedMs), lastsMs: Math.max(lastsMs, pause.lastsMs) };
    this.#pause = { ...merged, at: now() };
    this.#mustProbe = true;
    const left = this.pauseLeft;
    const refused: [Waiter, Admission][] = [];
    this.#waiters.each((waiter) => {
      const refusal = this.#refusalOf(waiter, left);
      if (refusal !== undefined) refused.push([waiter, refusal]);
    });
    for (const [waiter, refusal] of refused) this.leave(waiter, refusal);
    this.#pump();
    return merged;
  }

  /** Admits, in order, every waiter that there is room for. Time may make room for the others earlier than they know. */
  #pump(): void {
    this.#countTime();
    for (let { first } = this.#waiters; first !== undefined; first = this.#waiters.first) {
      const at = this.nextRoomAt();
      if (at > 0) {
        this.#waiters.watch(at);
        return;
      }
      this.#waiters.leave(first);
      this.#send(first);
      first.settle(ADMITTED);
    }
  }

  /** The request of a waiter begins now; `take` has to follow. */
  #send(waiter: Waiter): void {
    this.#sentAt = now();
    this.#slots.give(waiter, { epoch: this.#epoch, isProbe: this.#mustProbe });
  }

  /** The refusal of a waiter whose call does not wait for the pause: it is too long, or one too many. */
  #refusalOf({ call, pauses, counted }: Waiter, pause = this.pauseLeft): Admission | undefined {
    if (pause === undefined) return undefined;
    const inARow = counted === this.#epoch ? pauses : pauses + 1;
    const { askedMs, lastsMs } = pause;
    const waits = inARow <= call.maxPauses && askedMs <= call.maxPauseMs && now() + lastsMs < call.endsAt;
    return waits ? undefined : { kind: "refused", pauseMs: askedMs };
  }
}
