import { now } from "../clock.ts";
import { Allowance } from "./allowance.ts";
import { Barrier } from "./barrier.ts";
import type { News } from "./news.ts";
import { pauseLength } from "./pause-length.ts";
import { Queue, type Queued } from "./queue.ts";
import type { Admission, Pause, RateLimitAnswer, RateLimitedCall, RateLimitSnapshot } from "./rate-limiter.ts";

const ADMITTED: Admission = { kind: "admitted" };

/** A call that waits, or was let go, as lanes see it. */
export interface Waiter extends Queued {
  readonly call: RateLimitedCall;
  /** Ends its waiting; it stands in no queue then. */
  settle(admission: Admission): void;
  /** It has a slot of this lane now. */
  admitted(lane: Lane): void;
  /** In whose queue it stands. */
  lane: Lane | undefined;
  /** When it was last admitted. */
  startedAt: number;
  /** How many pauses had begun when it was last admitted. */
  pausesBefore: number;
  /** Refusals in a row that it has not sat through itself, as of `streak`. */
  spared: number;
  streak: number;
}

/**
 * The calls of one token: who waits, and whether the service lets anybody through. A lane is open, with no more in flight than
 * the service said is left; after a 429 it is paused, for all of them; when the pause is over it is probing: one goes
 * ahead, and its answer opens the lane or begins the next pause.
 */
export class Lane {
  readonly #token: string;
  readonly #queue = new Queue<Waiter>();
  readonly #barrier: Barrier;
  readonly #allowance = new Allowance();
  #inFlight = 0;
  /** After a pause, one goes ahead. */
  #mustProbe = false;
  #probe: Waiter | undefined;
  #pauses = 0;
  /** Pauses since anything got through. */
  #refusals = 0;
  /** Counts how often something got through after a refusal, so that waiters start counting anew. */
  #streak = 0;
  /** What the counts were in the latest news. */
  #newsCounts = { pauses: 0, streak: 0 };

  constructor(token: string, onOpen: () => void) {
    this.#token = token;
    this.#barrier = new Barrier(onOpen);
  }

  get isIdle(): boolean {
    return this.#inFlight === 0 && this.#queue.length === 0 && !this.#barrier.isUp;
  }

  /** What is left of the pause that runs. */
  get pause(): Pause | undefined {
    return this.#barrier.pause;
  }

  /** Refusals in a row, while nothing has got through since a pause. */
  get unresolved(): number | undefined {
    return this.#mustProbe ? this.#refusals : undefined;
  }

  snapshot(): RateLimitSnapshot | undefined {
    const { snapshot } = this.#allowance;
    const { pause } = this;
    if (snapshot === undefined || pause === undefined) return snapshot;
    return { ...snapshot, pausedUntil: new Date(Date.now() + pause.lastsMs) };
  }

  /** Joins the queue, or is refused at once: the call may not want to wait for the pause that runs. */
  join(waiter: Waiter): void {
    const refusal = this.#refusalOf(waiter);
    if (refusal !== undefined) {
      waiter.settle(refusal);
      return;
    }
    this.#queue.join(waiter);
    waiter.lane = this;
    this.#barrier.watch();
  }

  leave(waiter: Waiter): void {
    this.#queue.leave(waiter);
    waiter.lane = undefined;
    if (this.#queue.length === 0) this.#barrier.stopWatching();
  }

  /** Takes those out of the queue whose token has become another. */
  removeStrangers(): Waiter[] {
    const strangers = [...this.#queue].filter((waiter) => waiter.call.token() !== this.#token);
    for (const stranger of strangers) this.leave(stranger);
    return strangers;
  }

  /** The place of the first in the queue, if it may go; `Infinity` if nobody may. */
  get nextPlace(): number {
    const first = this.#queue.first;
    return first !== undefined && this.#hasRoom() ? first.place : Number.POSITIVE_INFINITY;
  }

  /** Lets the first in the queue go. */
  startFirst(): void {
    const first = this.#queue.first;
    if (first === undefined) return;
    this.leave(first);
    this.#start(first);
    first.settle(ADMITTED);
  }

  /** Lets one go that stands in no queue, if it may and nobody who does was before it. */
  takeIn(waiter: Waiter): boolean {
    const first = this.#queue.first;
    if ((first !== undefined && first.place < waiter.place) || !this.#hasRoom()) return false;
    this.#start(waiter);
    return true;
  }

  /** Whether one that was let go may go as it is: no pause has begun since, and no less is left than are in flight. */
  stillHolds(waiter: Waiter): boolean {
    if (waiter.pausesBefore !== this.#pauses || this.pause !== undefined) return false;
    return this.#mustProbe ? this.#probe === waiter : this.#inFlight <= Math.max(1, this.#allowance.left);
  }

  finish(waiter: Waiter): void {
    this.#inFlight -= 1;
    // It was never answered: somebody else has to go ahead.
    if (this.#probe === waiter) this.#probe = undefined;
  }

  /** Takes in what an answer says; gives what is left of the pause if it is a refusal. */
  answered(waiter: Waiter, answer: RateLimitAnswer): number | undefined {
    this.#allowance.hear(answer, waiter.startedAt);
    if (answer.status === 429) return this.#close(waiter, answer.retryAfterMs);
    if (this.#probe === waiter) {
      this.#probe = undefined;
      // A pause that began meanwhile ends with a probe of its own.
      if (this.pause === undefined) this.#mustProbe = false;
    }
    if (waiter.pausesBefore === this.#pauses && this.#refusals > 0) {
      this.#refusals = 0;
      this.#streak += 1;
    }
    return undefined;
  }

  /** Takes in what others were told. Who waits may be let go by it, or refused. */
  learn({ pause, pauses, refusals, streak, mustProbe, said, limit }: News): void {
    this.#allowance.learn(said, limit);
    if (streak !== this.#newsCounts.streak) this.#streak += 1;
    this.#refusals = refusals;
    if (pause !== undefined) {
      if (pauses !== this.#newsCounts.pauses) this.#pauses += 1;
      this.#mustProbe = true;
      this.#barrier.prolong(pause);
      this.#tellWaiters();
    } else if (this.pause === undefined) {
      this.#mustProbe = mustProbe;
      if (!mustProbe) this.#probe = undefined;
    }
    this.#newsCounts = { pauses, streak };
  }

  /** Lets nobody go for so long: others hold what there is. */
  hold(ms: number): void {
    this.#barrier.hold(ms);
    if (this.#queue.length > 0) this.#barrier.watch();
  }

  endHold(): void {
    this.#barrier.endHold();
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
    const { pause } = this;
    if (pause === undefined) return undefined;
    if (waiter.streak !== this.#streak) {
      waiter.streak = this.#streak;
      waiter.spared = this.#refusals - 1;
    }
    const satThrough = this.#refusals - waiter.spared;
    if (satThrough <= waiter.call.maxPauses && accepts(waiter.call, pause)) return undefined;
    return { kind: "refused", pauseMs: pause.askedMs };
  }

  #hasRoom(): boolean {
    if (this.#barrier.isUp) return false;
    if (this.#mustProbe) return this.#probe === undefined;
    return this.#inFlight < Math.max(1, this.#allowance.left);
  }

  #close(waiter: Waiter, retryAfterMs: number | undefined): number {
    // A refusal of something sent before the pause began is about the same window: it prolongs the pause and is no other.
    if (waiter.pausesBefore === this.#pauses) {
      this.#pauses += 1;
      this.#refusals += 1;
    }
    if (this.#probe === waiter) this.#probe = undefined;
    this.#mustProbe = true;
    const lastsMs = this.#barrier.prolong(pauseLength(retryAfterMs, this.#refusals, Math.random()));
    this.#tellWaiters();
    return lastsMs;
  }

  #tellWaiters(): void {
    for (const waiter of [...this.#queue]) {
      // A listener may have aborted it meanwhile.
      if (waiter.lane !== this) continue;
      const refusal = this.#refusalOf(waiter);
      if (refusal === undefined) continue;
      this.leave(waiter);
      waiter.settle(refusal);
    }
    if (this.#queue.length > 0) this.#barrier.watch();
  }
}

/** Whether a call waits for a pause: it may be longer than the call allows, or than the time it has left. */
function accepts(call: RateLimitedCall, pause: Pause): boolean {
  return pause.askedMs <= call.maxPauseMs && now() + pause.lastsMs < call.endsAt;
}
