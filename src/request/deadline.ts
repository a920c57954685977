import { after, now } from "../clock.ts";

/** Why something was ended before it was done: the caller's signal, the call's budget, or the attempt's. */
export type StopReason = "abort" | "total" | "attempt";

/** What `race` rejects with when the budget ends first. Never leaves the request path. */
export const STOPPED: unique symbol = Symbol("stopped");

/**
 * How long something may take, and what else ends it. A call has one (the caller's signal, `totalTimeoutMs`), within it
 * each attempt has one (`timeoutMs`), and within that a body that is only a courtesy. Work is raced against it, since
 * bodies of some platforms hang even when aborted. One thing is raced at a time, and one budget is within another.
 */
export class Deadline {
  readonly #deadline: number;
  readonly #cancelTimer: (() => void) | undefined;
  #leave: (() => void) | undefined;
  #inner: Deadline | undefined;
  #interrupt: (() => void) | undefined;
  #reason: StopReason | undefined;
  /** Made when somebody asks for the signal: most budgets need none. */
  #controller: AbortController | undefined;

  private constructor(limitMs: number, reason: StopReason) {
    const isLimited = limitMs !== Number.POSITIVE_INFINITY;
    this.#deadline = isLimited ? now() + limitMs : limitMs;
    this.#cancelTimer = isLimited ? after(limitMs, () => this.#stop(reason)) : undefined;
  }

  /** A call's budget. */
  static ofCall(limitMs: number, signal: AbortSignal | undefined): Deadline {
    const budget = new Deadline(limitMs, "total");
    if (signal === undefined) return budget;
    const stop = (): void => budget.#stop("abort");
    budget.#leave = () => signal.removeEventListener("abort", stop);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    return budget;
  }

  /** A budget of `limitMs` within another. */
  static within(outer: Deadline, limitMs: number): Deadline {
    const budget = new Deadline(limitMs, "attempt");
    outer.#inner = budget;
    budget.#leave = () => {
      outer.#inner = undefined;
    };
    if (outer.#reason !== undefined) budget.#stop(outer.#reason);
    return budget;
  }

  /** Aborts when the budget ends, for whatever takes a signal. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** Why it ended, once it has. */
  get reason(): StopReason | undefined {
    return this.#reason;
  }

  /** When it ends on the monotonic clock; `Infinity` without a limit. */
  get endsAt(): number {
    return this.#deadline;
  }

  /** Milliseconds that are left; `Infinity` without a limit. */
  get leftMs(): number {
    return this.#deadline === Number.POSITIVE_INFINITY ? this.#deadline : Math.max(0, this.#deadline - now());
  }

  /** What `work` comes to, or a rejection with `STOPPED` as soon as the budget ends. */
  race<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      // What heeds the same signal may be quicker, and rejects with a reason of its own.
      work.then(resolve, (error: unknown) => reject(this.#reason === undefined ? error : STOPPED));
      this.#interrupt = () => reject(STOPPED);
      if (this.#reason !== undefined) this.#interrupt();
    });
  }

  /** Frees the timer and the listener. Nothing ends by it. */
  release(): void {
    this.#cancelTimer?.();
    this.#leave?.();
  }

  #stop(reason: StopReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.release();
    this.#interrupt?.();
    if (this.#inner !== undefined) this.#inner.#stop(reason);
    this.#controller?.abort();
  }
}
