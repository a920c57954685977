import { after, now } from "../clock.ts";

/** Why something was ended before it was done: the caller's signal, the call's budget, or the attempt's. */
export type StopReason = "abort" | "total" | "attempt";

/** What `race` rejects with when the budget ends first. Never leaves the request path. */
export class Stopped {
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    this.reason = reason;
  }
}

/**
 * How long something may take, and what else ends it. A call has one (the caller's signal, `totalTimeoutMs`), and within
 * it each attempt has one (`timeoutMs`). Work is raced against it, since bodies of some platforms hang even when aborted.
 */
export class Budget {
  readonly #controller = new AbortController();
  readonly #deadline: number;
  readonly #cleanups: (() => void)[] = [];
  #reason: StopReason | undefined;

  private constructor(limitMs: number) {
    this.#deadline = now() + limitMs;
  }

  /** A call's budget. */
  static ofCall(limitMs: number, signal: AbortSignal | undefined): Budget {
    const budget = new Budget(limitMs);
    budget.#stopAfter(limitMs, "total");
    if (signal !== undefined) budget.#stopWith(signal, () => "abort");
    return budget;
  }

  /** An attempt's budget within its call's. */
  static ofAttempt(limitMs: number, call: Budget): Budget {
    const budget = new Budget(Math.min(limitMs, call.leftMs));
    budget.#stopAfter(limitMs, "attempt");
    budget.#stopWith(call.signal, () => call.reason ?? "abort");
    return budget;
  }

  /** Aborts when the budget ends, for whatever takes a signal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why it ended, once it has. */
  get reason(): StopReason | undefined {
    return this.#reason;
  }

  /** Milliseconds that are left; `Infinity` without a limit. */
  get leftMs(): number {
    return Math.max(0, this.#deadline - now());
  }

  /** What `work` comes to, or a rejection with `Stopped` as soon as the budget ends. */
  async race<Result>(work: Promise<Result>): Promise<Result> {
    if (this.#reason !== undefined) {
      work.catch(() => {});
      throw new Stopped(this.#reason);
    }
    let stop: (() => void) | undefined;
    const stopped = new Promise<never>((_, reject) => {
      stop = () => reject(new Stopped(this.#reason ?? "abort"));
      this.signal.addEventListener("abort", stop);
    });
    try {
      return await Promise.race([work, stopped]);
    } catch (error) {
      // What listens to the same signal may be quicker, and rejects with a reason of its own.
      throw this.#reason === undefined ? error : new Stopped(this.#reason);
    } finally {
      if (stop !== undefined) this.signal.removeEventListener("abort", stop);
    }
  }

  /** Frees the timer and the listener. Nothing ends by it. */
  release(): void {
    for (const cleanup of this.#cleanups) cleanup();
    this.#cleanups.length = 0;
  }

  #stopAfter(limitMs: number, reason: StopReason): void {
    if (limitMs !== Number.POSITIVE_INFINITY) this.#cleanups.push(after(limitMs, () => this.#stop(reason)));
  }

  #stopWith(signal: AbortSignal, reason: () => StopReason): void {
    if (signal.aborted) {
      this.#stop(reason());
      return;
    }
    const stop = (): void => this.#stop(reason());
    signal.addEventListener("abort", stop);
    this.#cleanups.push(() => signal.removeEventListener("abort", stop));
  }

  #stop(reason: StopReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.release();
    this.#controller.abort();
  }
}
