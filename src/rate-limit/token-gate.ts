import { after, now } from "../clock.ts";
import { GatePause } from "./gate-pause.ts";
import { pauseDuration } from "./pause-duration.ts";
import { Queue, type Queued } from "./queue.ts";
import { Quota } from "./quota.ts";
import type { Admission, Pause, RateLimitAnswer, RateLimitedCall, RateLimitSnapshot } from "./rate-limiter.ts";
import type { SharedReading, SharedState } from "./shared-state.ts";
import { type Counted, Slots, STALLED_AFTER_MS, type Stage } from "./slots.ts";

const ADMITTED: Admission = { kind: "admitted" };

/** A call that waits at a gate, or has been admitted by it. */
export interface Waiter extends Queued {
  readonly call: RateLimitedCall;
  /** Ends its waiting. It is in no queue then. */
  settle(admission: Admission): void;
  /** The gate in whose queue it waits. */
  queuedAt: TokenGate | undefined;
  /** The gate whose pauses it counts, and how many of them began before it came. */
  countsPausesOf: TokenGate | undefined;
  pausesBeforeArrival: number;
  /** 429s that it received itself. */
  refusals: number;
  /** How many pauses had begun when it was last admitted. */
  pausesBeforeStart: number;
  /** When it was last admitted or confirmed. */
  startedAt: number;
}

/**
 * The gate of one token. Calls wait in order of arrival; at most `maxConcurrency` are in flight, and never more than are
 * left. A 429 closes the gate for all of them; when the pause is over one request goes ahead (the probe), and its response
 * opens the gate or begins the next pause. The gate has a timer only while calls wait.
 */
export class TokenGate {
  readonly token: string;
  readonly #queue = new Queue<Waiter>();
  readonly #pause = new GatePause();
  readonly #quota = new Quota();
  #maxConcurrency = Number.POSITIVE_INFINITY;
  readonly #slots = new Slots<Waiter>();
  #mustProbe = false;
  #probe: Waiter | undefined;
  /** Pauses that have begun, and how many of them when a request last got through. */
  #pauses = 0;
  #pausesWhenOpened = 0;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(token: string) {
    this.token = token;
  }

  get isIdle(): boolean {
    return this.#slots.inFlight("admitted") === 0 && this.#queue.length === 0 && this.#pause.left === undefined;
  }

  get state(): SharedState {
    const refusals = this.#pauses - this.#pausesWhenOpened;
    return { pause: this.#pause.left, refusals, mustProbe: this.#mustProbe };
  }

  get snapshot(): RateLimitSnapshot | undefined {
    const { snapshot } = this.#quota;
    const { endDate } = this.#pause;
    return snapshot === undefined || endDate === undefined ? snapshot : { ...snapshot, pausedUntil: endDate };
  }

  /** Admits the waiter, queues it, or refuses it: its call may not want to wait for the running pause. */
  join(waiter: Waiter): void {
    this.#welcome(waiter);
    const refusal = this.#refusalOf(waiter);
    if (refusal !== undefined) {
      waiter.settle(refusal);
      return;
    }
    this.#queue.join(waiter);
    waiter.queuedAt = this;
    this.pump();
  }

  /** Takes a waiter out of the queue. `pump` has to follow, since others may have waited behind it. */
  leave(waiter: Waiter): void {
    this.#queue.leave(waiter);
    waiter.queuedAt = undefined;
  }

  /** Admits, in order, every waiter that there is room for. */
  pump(): void {
    while (this.#hasRoomBeside("admitted")) {
      const { first } = this.#queue;
      if (first === undefined) break;
      this.#queue.leave(first);
      first.queuedAt = undefined;
      this.#start(first, "reading");
      first.settle(ADMITTED);
    }
    this.#setTimer();
  }

  /**
   * Admits a waiter that is in no queue and has this gate's token, if no queued waiter came before it and there is room
   * beside those that are sent. Those that are still reading their token yield to it: otherwise two gates whose waiters
   * read each other's token could refuse both forever.
   */
  admit(waiter: Waiter): boolean {
    this.#welcome(waiter);
    const first = this.#queue.first;
    if (first !== undefined && first.place < waiter.place) return false;
    if (this.#refusalOf(waiter) !== undefined || !this.#hasRoomBeside("sending")) return false;
    this.#start(waiter, "sending");
    return true;
  }

  /** Whether an admitted waiter may be sent now: no pause has begun since, and it is within what is left. */
  confirm(waiter: Waiter): boolean {
    this.#dropStalled();
    if (waiter.pausesBeforeStart !== this.#pauses || this.#pause.left !== undefined) return false;
    if (!this.#slots.beginSending(waiter)) return false;
    // A waiter that had the token earlier may have taken its place.
    if (this.#slots.inFlight("sending") > this.#maxConcurrency) return false;
    if (this.#mustProbe) return this.#probe === waiter;
    return this.#slots.holding("sending") <= Math.max(1, this.#quota.remaining);
  }

  /** Frees what an admitted waiter held. */
  finish(waiter: Waiter): void {
    this.#slots.remove(waiter);
    // It got no response: another one has to go ahead.
    if (this.#probe === waiter) this.#probe = undefined;
  }

  /** Reads a response. Returns what is left of the pause, in milliseconds, if the response is a 429. */
  report(waiter: Waiter, answer: RateLimitAnswer): number | undefined {
    this.#quota.observe(answer, waiter.startedAt);
    const isCurrent = waiter.pausesBeforeStart === this.#pauses;
    if (this.#probe === waiter) this.#probe = undefined;
    if (answer.status === 429) {
      waiter.refusals += 1;
      // The 429 of a request that was sent before the pause began is about the same window: it prolongs that pause.
      if (isCurrent) this.#pauses += 1;
      const refusals = Math.max(1, this.#pauses - this.#pausesWhenOpened);
      return this.#close(pauseDuration(answer.retryAfterMs, refusals, Math.random()));
    }
    if (isCurrent) {
      this.#pausesWhenOpened = this.#pauses;
      // A pause that was prolonged meanwhile ends with a probe of its own.
      if (this.#pause.left === undefined) this.#mustProbe = false;
    }
    this.pump();
    return undefined;
  }

  /** Takes over what other processes know. The gate's own pause stays: another process may not know of it yet. */
  merge({ pause, refusals, mustProbe, quota, limit }: SharedReading): void {
    this.#quota.merge(quota, limit);
    if (pause === undefined && this.#pause.left !== undefined) return;
    if (refusals < this.state.refusals) this.#pausesWhenOpened = this.#pauses;
    this.#pauses = Math.max(this.#pauses, this.#pausesWhenOpened + refusals);
    if (pause !== undefined) {
      this.#close(pause);
      return;
    }
    this.#mustProbe = mustProbe;
    this.pump();
  }

  /** Ends the running pause at once. One request goes ahead, as after any pause. */
  clearPause(): void {
    this.#pause.clear();
    this.pump();
  }

  #welcome(waiter: Waiter): void {
    this.#maxConcurrency = Math.min(this.#maxConcurrency, waiter.call.maxConcurrency);
    if (waiter.countsPausesOf === this) return;
    waiter.countsPausesOf = this;
    // It waits for the rest of a running pause, so that one counts.
    waiter.pausesBeforeArrival = this.#pauses - (this.#pause.left === undefined ? 0 : 1);
  }

  #start(waiter: Waiter, as: Stage): void {
    this.#slots.add(waiter, as);
    waiter.pausesBeforeStart = this.#pauses;
    if (this.#mustProbe) this.#probe = waiter;
  }

  /** Whether there is room for one more beside those that count. */
  #hasRoomBeside(counted: Counted): boolean {
    this.#dropStalled();
    if (this.#slots.inFlight(counted) >= this.#maxConcurrency || this.#pause.left !== undefined) return false;
    if (!this.#mustProbe) return this.#slots.holding(counted) < Math.max(1, this.#quota.remaining);
    const probe = this.#probe;
    return probe === undefined || (counted === "sending" && this.#slots.isReading(probe));
  }

  #dropStalled(): void {
    this.#slots.dropStalled((waiter) => {
      if (this.#probe === waiter) this.#probe = undefined;
    });
  }

  #close(pause: Pause): number {
    this.#mustProbe = true;
    const lastsMs = this.#pause.extend(pause);
    for (const waiter of this.#queue) {
      const refusal = this.#refusalOf(waiter);
      if (refusal === undefined) continue;
      this.#queue.leave(waiter);
      waiter.queuedAt = undefined;
      waiter.settle(refusal);
    }
    this.pump();
    return lastsMs;
  }

  /** The refusal of a call that does not wait for the running pause: too long for it, or one pause too many. */
  #refusalOf({ call, pausesBeforeArrival, refusals }: Waiter): Admission | undefined {
    const { left } = this.#pause;
    // A pause may be over before the call that it was for asks again.
    if (left === undefined) return refusals > call.maxPauses ? { kind: "refused", pauseMs: 0 } : undefined;
    const pauses = Math.max(refusals, this.#pauses - Math.max(pausesBeforeArrival, this.#pausesWhenOpened));
    const isShortEnough = left.askedMs <= call.maxPauseMs && now() + left.lastsMs < call.endsAt;
    return pauses <= call.maxPauses && isShortEnough ? undefined : { kind: "refused", pauseMs: left.askedMs };
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
    const pauseEndsAt = this.#pause.endsAt;
    if (pauseEndsAt !== undefined) return pauseEndsAt;
    if (this.#slots.inFlight("admitted") >= this.#maxConcurrency) return Number.POSITIVE_INFINITY;
    const { oldest } = this.#slots;
    // The pause may have ended since the queue was looked at.
    return oldest === undefined || this.#hasRoomBeside("admitted") ? now() : oldest.startedAt + STALLED_AFTER_MS;
  }
}
