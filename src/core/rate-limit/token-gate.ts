import { after, now } from "../time/clock.ts";
import { distanceLeft, narrowed, type Pace, paceAt, UNPACED, widened } from "./pace.ts";
import { leftOf, type Pause, type PauseAt, pauseDuration } from "./pause.ts";
import { Queue } from "./queue.ts";
import { NOTHING_READ, observed, type Quota, remainingOf, toSnapshot } from "./quota.ts";
import type {
  Admission,
  Permit,
  RateLimitedCall,
  RateLimitHead,
  RateLimitSnapshot,
  ReportedPause,
} from "./rate-limiter.ts";

/** A request without a response for this long no longer holds others back, except by `maxConcurrency`. In milliseconds. */
export const STALLED_AFTER_MS = 5_000;
const LONGEST_REQUEST_MS = 5 * 60_000;
/** A call that lives takes its slot, and ends its request by itself, within so long. Later a platform has dropped it. */
const GRACE_MS = 250;

const ADMITTED: Admission = { kind: "admitted" };
const STOPPED: Admission = { kind: "stopped" };

/**
 * A call at the gate of its token, over all its requests:
 *
 * - `waiting`: it is in the queue. The gate admits or refuses it; its signal and `release` end its wait.
 * - `admitted`: the gate has given it a slot and woken it. It takes the slot within a moment. If it comes too late, it waits
 *   again at its position.
 * - `sent`: it has taken its slot, which ends with `release`, or with the call's time limit.
 * - `done`: it neither waits nor has a slot. It may `acquire` again.
 *
 * It sleeps by a timer of its own, which it sets by itself: a platform may drop any call with its timers.
 */
export class Ticket implements Permit {
  readonly call: RateLimitedCall;
  readonly position: number;
  state: "waiting" | "admitted" | "sent" | "done" = "done";
  admission: Admission = STOPPED;
  /** While it waits: the moment at which it looks for room. */
  wakesAt = Number.POSITIVE_INFINITY;
  /** Pauses in a row that it has begun or waits for, without a request of its token getting through; and the latest of them. */
  pauses = 0;
  latestPause: symbol | undefined;
  sentAt = 0;
  /** The latest pause of its token then: its response says nothing about a later one. */
  sentAfter: symbol | undefined;
  /** Its slot is free then, whether the call has ended or was dropped. */
  endsAt = 0;
  /** It was sent ahead of the others, and has no response yet. */
  isProbe = false;
  readonly #gateOf: (token: string) => TokenGate;
  #gate: TokenGate | undefined;
  /** Counts its waits: one that was left does not go on. */
  #waits = 0;
  #goOn = (): void => {};

  constructor(gateOf: (token: string) => TokenGate, call: RateLimitedCall, position: number) {
    this.#gateOf = gateOf;
    this.call = call;
    this.position = position;
  }

  acquire(token: string): Admission | Promise<Admission> {
    this.release();
    const gate = this.#gateOf(token);
    this.#gate = gate;
    this.#waits += 1;
    gate.enter(this);
    return this.state === "waiting" ? this.#wait(gate) : this.admission;
  }

  report(head: RateLimitHead): ReportedPause | undefined {
    return this.#gate?.report(this, head);
  }

  release(): void {
    this.#gate?.leave(this);
  }

  /** Its state has changed, or the moment at which it looks. */
  wake(): void {
    this.#goOn();
  }

  async #wait(gate: TokenGate): Promise<Admission> {
    const wait = this.#waits;
    const { signal } = this.call;
    const stop = (): void => this.release();
    // The signal is the call's own, with no other listener to share.
    signal.addEventListener("abort", stop);
    // An event does not reach a listener that is added after it.
    if (signal.aborted) stop();
    try {
      while (this.state === "waiting") {
        await this.#sleep(gate);
        if (wait !== this.#waits) return STOPPED;
        gate.resume(this);
      }
      return this.admission;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async #sleep(gate: TokenGate): Promise<void> {
    const until = this.wakesAt;
    let cancel = (): void => {};
    await new Promise<void>((resolve) => {
      this.#goOn = resolve;
      cancel = after(until - now(), () => {
        gate.look(this, until);
        resolve();
      });
    });
    cancel();
  }
}

interface GateState {
  readonly quota: Quota;
  readonly pause: Pause | undefined;
  /** Pauses in a row, without a request getting through: if there are any, one request goes at a time. */
  readonly refusals: number;
  readonly pace: Pace;
}

/**
 * The gate of one token. Calls wait in order of arrival; at most `maxConcurrency` are in flight, and never more than are
 * left. A 429 closes the gate for all of them; when the pause is over one request goes ahead (the probe), and its response
 * opens the gate or begins the next pause.
 *
 * The gate has no timer: time makes room when a ticket looks.
 */
export class TokenGate {
  #quota: Quota = NOTHING_READ;
  #pause: PauseAt | undefined;
  #latestPause = Symbol();
  #refusals = 0;
  #pace: Pace = UNPACED;
  #sentAt = 0;
  readonly #queue = new Queue<Ticket>();
  readonly #inFlight = new Set<Ticket>();
  #earliestEnd = Number.POSITIVE_INFINITY;

  get isIdle(): boolean {
    this.#dropEnded();
    return this.#inFlight.size === 0 && this.#queue.size === 0 && this.pauseLeft === undefined;
  }

  get state(): GateState {
    return { quota: this.#quota, pause: this.pauseLeft, refusals: this.#refusals, pace: this.#pace };
  }

  /** Requests that have begun and not ended, as far as is known. */
  get inFlight(): number {
    this.#dropEnded();
    return this.#inFlight.size;
  }

  get snapshot(): RateLimitSnapshot | undefined {
    return toSnapshot(this.#quota, this.pauseLeft);
  }

  get pauseLeft(): Pause | undefined {
    return this.#pause && leftOf(this.#pause, now());
  }

  enter(ticket: Ticket): void {
    if (this.pauseLeft !== undefined) this.#count(ticket);
    const refusal = this.#refusalOf(ticket);
    ticket.state = refusal === undefined ? "waiting" : "done";
    if (refusal !== undefined) {
      ticket.admission = refusal;
      return;
    }
    this.#queue.join(ticket);
    this.look(ticket, now());
    this.resume(ticket);
  }

  /** The timer of a waiting ticket says that it is `at`: time may have made room. If not, the ticket learns when to look again. */
  look(ticket: Ticket, at: number): void {
    // A pause ends with its timers: fake timers may leave the clock alone.
    if (this.#pause !== undefined && this.#pause.at + this.#pause.lastsMs <= at) this.#pause = undefined;
    ticket.wakesAt = Number.POSITIVE_INFINITY;
    const roomAt = this.#pump();
    if (ticket.state === "waiting") ticket.wakesAt = Math.min(ticket.wakesAt, this.#queue.wakesAt(roomAt));
  }

  /** A ticket is awake. If it has been given a slot, it takes it, or waits again if it comes too late. */
  resume(ticket: Ticket): void {
    if (ticket.state === "admitted" && !this.take(ticket)) this.enter(ticket);
  }

  /** A ticket takes its slot, until its time limit. Returns whether there still is one. */
  take(ticket: Ticket): boolean {
    // A slot that has ended is still the ticket's until somebody looks for room.
    if (!this.#inFlight.has(ticket)) return false;
    ticket.state = "sent";
    ticket.admission = ADMITTED;
    ticket.endsAt = now() + Math.min(ticket.call.timeoutMs, LONGEST_REQUEST_MS) + GRACE_MS;
    return true;
  }

  /**
   * The request of a ticket begins later than it was admitted: it had to wait for other processes. Returns whether it still
   * has its slot.
   */
  restart(ticket: Ticket): boolean {
    if (!this.#inFlight.has(ticket)) return false;
    this.#admit(ticket);
    return this.take(ticket);
  }

  report(ticket: Ticket, head: RateLimitHead): ReportedPause | undefined {
    const { sentAt } = ticket;
    const isCurrent = ticket.sentAfter === this.#latestPause;
    this.#quota = observed(this.#quota, head, sentAt);
    ticket.isProbe = false;
    if (head.status === 429) {
      // The 429 of a request that was sent before the pause began is about the same window: it prolongs that pause.
      if (isCurrent) {
        this.#latestPause = Symbol();
        this.#refusals += 1;
      }
      this.#count(ticket);
      const pause = this.#close(pauseDuration(head.retryAfterMs, Math.max(1, this.#refusals), Math.random()));
      const { inFlight } = this;
      if (isCurrent) this.#pace = narrowed(this.#pace, { at: now(), sentAt, inFlight, pauseMs: pause.lastsMs });
      return { pauseMs: pause.lastsMs, waits: this.#refusalOf(ticket, pause) === undefined };
    }
    if (isCurrent) {
      ticket.pauses = 0;
      // A pause that was prolonged meanwhile ends with a probe of its own.
      if (this.pauseLeft === undefined) this.#resetRefusals();
      this.#pace = widened(paceAt(this.#pace, now()), sentAt);
    }
    this.#pump();
    return undefined;
  }

  /** A ticket frees its slot, or ends its waiting: those behind it may have room now. */
  leave(ticket: Ticket, admission: Admission = STOPPED): void {
    if (ticket.state === "waiting") this.#queue.leave(ticket);
    else if (!this.#inFlight.delete(ticket)) return;
    ticket.state = "done";
    ticket.admission = admission;
    ticket.wake();
    this.#pump();
  }

  /** Takes over what other processes know. The pause of this process stays: the others may not know of it yet. */
  learn({ quota, pause, refusals, pace }: GateState): void {
    this.#quota = quota;
    if (pause === undefined && this.pauseLeft !== undefined) return;
    if (refusals < this.#refusals) this.#resetRefusals();
    if (refusals > this.#refusals) this.#latestPause = Symbol();
    this.#refusals = refusals;
    this.#pace = pace;
    if (pause === undefined) this.#pump();
    else this.#close(pause);
  }

  /** A ticket that has begun the latest pause, or waits for it, counts it once. */
  #count(ticket: Ticket): void {
    if (ticket.latestPause === this.#latestPause) return;
    ticket.latestPause = this.#latestPause;
    ticket.pauses += 1;
  }

  #resetRefusals(): void {
    if (this.#refusals === 0) return;
    this.#refusals = 0;
    for (const ticket of this.#queue.members) ticket.pauses = 0;
  }

  /** Nothing is sent for so long, or longer if a pause is running. Refuses those who do not wait for it, and returns it. */
  #close(pause: Pause): Pause {
    const { askedMs, lastsMs } = this.pauseLeft ?? pause;
    const merged = { askedMs: Math.max(askedMs, pause.askedMs), lastsMs: Math.max(lastsMs, pause.lastsMs) };
    this.#pause = { ...merged, at: now() };
    this.#refusals = Math.max(1, this.#refusals);
    for (const ticket of this.#queue.members) {
      this.#count(ticket);
      const refusal = this.#refusalOf(ticket);
      if (refusal !== undefined) this.leave(ticket, refusal);
    }
    this.#pump();
    return merged;
  }

  /** Admits, in order, every ticket that there is room for. Returns the moment at which time may make room for the next one. */
  #pump(): number {
    for (let { first } = this.#queue; first !== undefined; first = this.#queue.first) {
      const at = this.#roomAt(first);
      if (at > 0) {
        this.#queue.wakeSome(at);
        return at;
      }
      this.#queue.leave(first);
      this.#admit(first);
      first.wake();
    }
    return Number.POSITIVE_INFINITY;
  }

  #admit(ticket: Ticket): void {
    this.#sentAt = now();
    this.#inFlight.delete(ticket);
    ticket.state = "admitted";
    ticket.sentAt = this.#sentAt;
    ticket.sentAfter = this.#latestPause;
    ticket.endsAt = this.#sentAt + GRACE_MS;
    ticket.isProbe = this.#refusals > 0;
    this.#inFlight.add(ticket);
    this.#earliestEnd = Math.min(this.#earliestEnd, ticket.endsAt);
  }

  /** The moment at which time makes room for a ticket, or may do so: 0 if there is room. */
  #roomAt({ call }: Ticket): number {
    if (this.#pause !== undefined && this.pauseLeft !== undefined) return this.#pause.at + this.#pause.lastsMs;
    this.#dropEnded();
    if (this.#inFlight.size >= call.maxConcurrency) return this.#earliestEnd;
    // A probe waits for no others than another probe.
    if (this.#refusals > 0) return this.#roomWithin(1, ({ isProbe }) => isProbe);
    const left = remainingOf(this.#quota);
    if (left < Number.POSITIVE_INFINITY) return this.#roomWithin(Math.max(1, left));
    const pace = paceAt(this.#pace, now());
    const leftMs = distanceLeft(pace, now() - this.#sentAt);
    return leftMs > 0 ? now() + leftMs : this.#roomWithin(pace.width);
  }

  /** The moment at which fewer than `room` requests hold the others back, or may do so: 0 if they are fewer now. */
  #roomWithin(room: number, isHolding: (ticket: Ticket) => boolean = () => true): number {
    if (this.#inFlight.size < room) return 0;
    const ends = [...this.#inFlight]
      .filter(isHolding)
      .map(({ sentAt, endsAt }) => Math.min(sentAt + STALLED_AFTER_MS, endsAt))
      .filter((at) => at > now());
    return ends.length < room ? 0 : Math.min(...ends);
  }

  /** A slot ends by the clock: the next one that looks for room sees it. */
  #dropEnded(): void {
    const time = now();
    if (time < this.#earliestEnd) return;
    this.#earliestEnd = Number.POSITIVE_INFINITY;
    for (const ticket of this.#inFlight) {
      if (ticket.endsAt <= time) this.#inFlight.delete(ticket);
      else this.#earliestEnd = Math.min(this.#earliestEnd, ticket.endsAt);
    }
  }

  /** The refusal of a ticket whose call does not wait for the pause: it is too long, or one too many. */
  #refusalOf({ call, pauses }: Ticket, pause = this.pauseLeft): Admission | undefined {
    if (pause === undefined) return undefined;
    const { askedMs, lastsMs } = pause;
    const waits = pauses <= call.maxPauses && askedMs <= call.maxPauseMs && now() + lastsMs < call.endsAt;
    return waits ? undefined : { kind: "refused", pauseMs: askedMs };
  }
}
