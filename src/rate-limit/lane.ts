import { after, now } from "../clock.ts";
import { Line, type Standing } from "./line.ts";
import { pauseLength } from "./pause-length.ts";
import type { Admission, Pause, RateLimitAnswer, RateLimitedCall, RateLimitSnapshot } from "./rate-limiter.ts";

/** The documented window. What was said of a window longer ago than this says nothing about the present one. */
const WINDOW_MS = 60_000;

const ADMITTED: Admission = { kind: "admitted" };

/** A call's place in line, as lanes see it. */
export interface Waiter extends Standing {
  readonly call: RateLimitedCall;
  /** Ends its waiting; it stands in no line then. */
  settle(admission: Admission): void;
  /** It has a slot of this lane now. */
  admitted(lane: Lane): void;
  /** Where it stands in line. */
  lane: Lane | undefined;
  /** When it was last admitted. */
  startedAt: number;
  /** How many pauses had begun when it was last admitted. */
  pausesBefore: number;
  /** Refusals in a row that it has not sat through itself, as of `streak`. */
  spared: number;
  streak: number;
}

/** The calls of one token: who waits, and whether the service lets anybody through. */
export class Lane {
  readonly #token: string;
  readonly #line = new Line<Waiter>();
  readonly #onOpen: () => void;
  #inFlight = 0;
  /** Ends of the running pause on the monotonic clock: as asked, and with jitter. */
  #pause: { readonly askedUntil: number; readonly until: number } | undefined;
  #cancelTimer: (() => void) | undefined;
  /** After a pause, one goes ahead. */
  #mustProbe = false;
  #probe: Waiter | undefined;
  #pauses = 0;
  /** Pauses since anything got through. */
  #refusals = 0;
  /** Counts how often something got through after a refusal, so that waiters start counting anew. */
  #streak = 0;
  /** What is left: since when that is believed, and when the service last said so or more. */
  #said: { readonly remaining: number; readonly since: number; readonly heardAt: number } | undefined;
  #limit: number | undefined;
  #observedAt: Date | undefined;

  constructor(token: string, onOpen: () => void) {
    this.#token = token;
    this.#onOpen = onOpen;
  }

  get isIdle(): boolean {
    return this.#inFlight === 0 && this.#line.length === 0 && this.#pauseLeft() === undefined;
  }

  snapshot(): RateLimitSnapshot | undefined {
    if (this.#observedAt === undefined) return undefined;
    const pause = this.#pauseLeft();
    return {
      ...(this.#limit === undefined ? {} : { limit: this.#limit }),
      ...(this.#said === undefined ? {} : { remaining: this.#said.remaining }),
      observedAt: new Date(this.#observedAt),
      ...(pause === undefined ? {} : { pausedUntil: new Date(Date.now() + pause.lastsMs) }),
    };
  }

  /** Stands in line, or is refused at once: the call may not want to wait for the pause that runs. */
  join(waiter: Waiter): void {
    const refusal = this.#refusalOf(waiter);
    if (refusal !== undefined) {
      waiter.settle(refusal);
      return;
    }
    this.#line.join(waiter);
    waiter.lane = this;
    const pause = this.#pauseLeft();
    if (pause === undefined) return;
    this.#watchPause();
    waiter.call.onPause(pause.lastsMs);
  }

  leave(waiter: Waiter): void {
    this.#line.leave(waiter);
    waiter.lane = undefined;
    if (this.#line.length === 0) this.#stopWatching();
  }

  /** Takes those out of the line whose token has become another. */
  removeStrangers(): Waiter[] {
    const strangers = [...this.#line].filter((waiter) => waiter.call.token() !== this.#token);
    for (const stranger of strangers) this.leave(stranger);
    return strangers;
  }

  /** The place of the first in line, if it may go; `Infinity` if nobody may. */
  get nextPlace(): number {
    const first = this.#line.first;
    return first !== undefined && this.#hasRoom() ? first.place : Number.POSITIVE_INFINITY;
  }

  /** Lets the first in line go. */
  startFirst(): void {
    const first = this.#line.first;
    if (first === undefined) return;
    this.leave(first);
    this.#start(first);
    first.settle(ADMITTED);
  }

  /** Lets one go that stands in no line, if it may and nobody who does was before it. */
  takeIn(waiter: Waiter): boolean {
    const first = this.#line.first;
    if ((first !== undefined && first.place < waiter.place) || !this.#hasRoom()) return false;
    this.#start(waiter);
    return true;
  }

  /** Whether one that was let go may go as it is: no pause has begun since, and no less is left than are in flight. */
  stillHolds(waiter: Waiter): boolean {
    if (waiter.pausesBefore !== this.#pauses || this.#pauseLeft() !== undefined) return false;
    return this.#mustProbe ? this.#probe === waiter : this.#inFlight <= Math.max(1, this.#remaining());
  }

  finish(waiter: Waiter): void {
    this.#inFlight -= 1;
    // It was never answered: somebody else has to go ahead.
    if (this.#probe === waiter) this.#probe = undefined;
  }

  /** Takes in what an answer says; gives what is left of the pause if it is a refusal. */
  answered(waiter: Waiter, answer: RateLimitAnswer): number | undefined {
    this.#observedAt = new Date();
    this.#limit = answer.limit ?? this.#limit;
    if (answer.remaining !== undefined) this.#hear(answer.remaining, waiter.startedAt);
    if (answer.status === 429) return this.#close(waiter, answer.retryAfterMs);
    if (this.#probe === waiter) {
      this.#probe = undefined;
      // A pause that began meanwhile ends with a probe of its own.
      if (this.#pauseLeft() === undefined) this.#mustProbe = false;
    }
    if (waiter.pausesBefore === this.#pauses && this.#refusals > 0) {
      this.#refusals = 0;
      this.#streak += 1;
    }
    return undefined;
  }

  #start(waiter: Waiter): void {
    this.#inFlight += 1;
    waiter.startedAt = now();
    waiter.pausesBefore = this.#pauses;
    if (this.#mustProbe) this.#probe = waiter;
    waiter.admitted(this);
  }

  /** Why the waiter will not be let through, if it will not. */
  #refusalOf(waiter: Waiter): Admission | undefined {
    const pause = this.#pauseLeft();
    if (pause === undefined) return undefined;
    if (waiter.streak !== this.#streak) {
      waiter.streak = this.#streak;
      waiter.spared = this.#refusals - 1;
    }
    const satThrough = this.#refusals - waiter.spared;
    if (satThrough <= waiter.call.maxPauses && waiter.call.accepts(pause)) return undefined;
    return { kind: "refused", pauseMs: pause.askedMs };
  }

  #hasRoom(): boolean {
    if (this.#pauseLeft() !== undefined) return false;
    if (this.#mustProbe) return this.#probe === undefined;
    return this.#inFlight < Math.max(1, this.#remaining());
  }

  #remaining(): number {
    if (this.#said === undefined || now() - this.#said.heardAt > WINDOW_MS) return Number.POSITIVE_INFINITY;
    return this.#said.remaining;
  }

  // Answers overtake one another: a higher number is believed only of a request that was sent after the lower was heard.
  #hear(remaining: number, startedAt: number): void {
    const heardAt = now();
    if (this.#said === undefined || startedAt >= this.#said.since || remaining < this.#remaining()) {
      this.#said = { remaining, since: heardAt, heardAt };
    } else {
      this.#said = { ...this.#said, heardAt };
    }
  }

  #close(waiter: Waiter, retryAfterMs: number | undefined): number {
    // A refusal of something sent before the pause began is about the same window: it prolongs the pause and is no other.
    if (waiter.pausesBefore === this.#pauses) {
      this.#pauses += 1;
      this.#refusals += 1;
    }
    if (this.#probe === waiter) this.#probe = undefined;
    this.#mustProbe = true;
    const asked = pauseLength(retryAfterMs, this.#refusals, Math.random());
    const pause = {
      askedUntil: Math.max(now() + asked.askedMs, this.#pause?.askedUntil ?? 0),
      until: Math.max(now() + asked.lastsMs, this.#pause?.until ?? 0),
    };
    this.#pause = pause;
    this.#tellWaiters(pause.until - now());
    return pause.until - now();
  }

  #tellWaiters(lastsMs: number): void {
    this.#stopWatching();
    for (const waiter of [...this.#line]) {
      // A listener may have aborted it meanwhile.
      if (waiter.lane !== this) continue;
      const refusal = this.#refusalOf(waiter);
      if (refusal === undefined) {
        waiter.call.onPause(lastsMs);
      } else {
        this.leave(waiter);
        waiter.settle(refusal);
      }
    }
    if (this.#line.length > 0) this.#watchPause();
  }

  #pauseLeft(): Pause | undefined {
    if (this.#pause === undefined) return undefined;
    const lastsMs = this.#pause.until - now();
    if (lastsMs > 0) return { lastsMs, askedMs: Math.max(0, this.#pause.askedUntil - now()) };
    this.#pause = undefined;
    return undefined;
  }

  #watchPause(): void {
    if (this.#cancelTimer !== undefined || this.#pause === undefined) return;
    this.#cancelTimer = after(this.#pause.until - now(), () => {
      this.#cancelTimer = undefined;
      this.#pause = undefined;
      this.#onOpen();
    });
  }

  #stopWatching(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
