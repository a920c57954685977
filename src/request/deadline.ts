import { onAbort } from "../abort.ts";
import { after, now } from "../clock.ts";

/** What ended something before it was done: the caller's signal, the call's `totalTimeoutMs`, or the attempt's `timeoutMs`. */
export type StopReason = "abort" | "total" | "attempt";

/** What `race` rejects with if the deadline ends first. Never leaves the request path. */
export const STOPPED: unique symbol = Symbol("stopped");

/**
 * Until when something may take, and what else ends it. A call has one (the caller's signal, `totalTimeoutMs`), each
 * attempt has one within it (`timeoutMs`), and the body of a refusal one within that. Work is raced against it, since
 * the bodies of some platforms stay pending even when they are aborted. One thing is raced at a time.
 */
export class Deadline {
  /** When it ends on the monotonic clock; `Infinity` without a limit. */
  readonly endsAt: number;
  readonly #cancelTimer: (() => void) | undefined;
  #leave: (() => void) | undefined;
  #inner: Deadline | undefined;
  #interrupt: (() => void) | undefined;
  #reason: StopReason | undefined;
  /** Made when the signal is asked for: most deadlines need none. */
  #controller: AbortController | undefined;

  private constructor(limitMs: number, reason: StopReason) {
    const isLimited = limitMs !== Number.POSITIVE_INFINITY;
    this.endsAt = isLimited ? now() + limitMs : limitMs;
    this.#cancelTimer = isLimited ? after(limitMs, () => this.#stop(reason)) : undefined;
  }

  /** The deadline of a call. */
  static ofCall(limitMs: number, signal: AbortSignal | undefined): Deadline {
    const deadline = new Deadline(limitMs, "total");
    if (signal !== undefined) deadline.#leave = onAbort(signal, () => deadline.#stop("abort"));
    return deadline;
  }

  /** A deadline of `limitMs` within this one. */
  within(limitMs: number): Deadline {
    const inner = new Deadline(limitMs, "attempt");
    this.#inner = inner;
    inner.#leave = () => {
      this.#inner = undefined;
    };
    if (this.#reason !== undefined) inner.#stop(this.#reason);
    return inner;
  }

  /** Aborts when the deadline ends, for everything that takes a signal. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** What ended it, once it has ended. */
  get reason(): StopReason | undefined {
    return this.#reason;
  }

  /** Milliseconds that are left; `Infinity` without a limit. */
  get leftMs(): number {
    return this.endsAt === Number.POSITIVE_INFINITY ? this.endsAt : Math.max(0, this.endsAt - now());
  }

  /** Settles as `work` does, or rejects with `STOPPED` as soon as the deadline ends. */
  race<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      // Work that heeds the same signal may be quicker, and rejects with a reason of its own.
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
