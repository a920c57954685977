import { after, limit, now } from "./clock.ts";

/**
 * The reason why something ended before it was done: a signal, the limit of the whole (`totalTimeoutMs`), or that of an attempt
 * (`timeoutMs`).
 */
type StopReason = "abort" | "total" | "attempt";

type Around = AbortSignal | Deadline | undefined;

/** The rejection of `race` and `sleep` if the deadline ends first. It never leaves the client. */
export const STOPPED: unique symbol = Symbol("stopped");

/**
 * A time limit, and what else ends the same work: an abort signal with a reason, made from a limit, signals, and other
 * deadlines around it. Whatever waits is raced against one, since a promise of a platform or of a caller may stay
 * pending even when its signal aborts. Release it when the work is done.
 */
export class Deadline {
  /** When its time is over on the monotonic clock; `Infinity` without a limit. */
  readonly endsAt: number;
  readonly #ownEnd: number;
  readonly #kind: "total" | "attempt";
  #reason: StopReason | undefined;
  readonly #controller = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #held: (() => void)[] = [];

  private constructor(kind: "total" | "attempt", limitMs: number, around: readonly Around[]) {
    this.#kind = kind;
    this.#ownEnd = now() + limitMs;
    let outerEnd = Number.POSITIVE_INFINITY;
    for (const one of around) {
      if (one === undefined || this.#reason !== undefined) continue;
      if (one instanceof Deadline) {
        outerEnd = Math.min(outerEnd, one.endsAt);
        this.#held.push(one.#onEnd(() => this.#stop(one.#reason ?? "abort", one.signal.reason)));
      } else {
        this.#held.push(onAbort(one, () => this.#stop("abort", one.reason)));
      }
    }
    this.endsAt = Math.min(this.#ownEnd, outerEnd);
    // A deadline around it that ends no later has a timer of its own.
    if (this.#reason === undefined && this.#ownEnd < outerEnd) {
      this.#held.push(limit(limitMs, () => this.#stop(kind, undefined)));
    }
  }

  /** A deadline of a whole: a call, a wait, a walk. Each of the signals and deadlines around it ends it, too. */
  static of(limitMs: number, ...around: readonly Around[]): Deadline {
    return new Deadline("total", limitMs, around);
  }

  within(limitMs: number): Deadline {
    return new Deadline("attempt", limitMs, [this]);
  }

  /** Aborts when the deadline ends, with the reason of the signal that ended it, for everything that takes a signal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get reason(): StopReason | undefined {
    return this.#reason;
  }

  get leftMs(): number {
    return Math.max(0, this.endsAt - now());
  }

  /** Settles as `work` does, or rejects with `STOPPED` as soon as the deadline ends. */
  async race<Result>(work: Promise<Result>): Promise<Result> {
    let leave = (): void => {};
    const stopped = new Promise<never>((_, reject) => {
      leave = this.#onEnd(() => reject(STOPPED));
    });
    try {
      // The platform follows it in the stack of an error that is made within `work`.
      return await Promise.race([work, stopped]);
    } catch (error) {
      // Work that heeds the signal may be quicker, and rejects with a reason of its own.
      throw this.#reason === undefined ? error : STOPPED;
    } finally {
      leave();
    }
  }

  /** Resolves after so many milliseconds, or rejects with `STOPPED` as soon as the deadline ends. */
  async sleep(delayMs: number): Promise<void> {
    let cancel = (): void => {};
    const awake = new Promise<void>((resolve) => {
      cancel = after(delayMs, resolve);
    });
    try {
      await this.race(awake);
    } finally {
      cancel();
    }
  }

  /**
   * Ends it if its time is over, also where its timer is late: nothing is begun then. Returns whether it has ended.
   */
  endsNow(): boolean {
    const time = now();
    if (time >= this.endsAt) this.#stop(time < this.#ownEnd ? "total" : this.#kind, undefined);
    return this.#reason !== undefined;
  }

  end(): void {
    this.#stop("abort", undefined);
  }

  /** Frees the timer and the listeners. Does not end the deadline. */
  release(): void {
    for (const free of this.#held) free();
  }

  /** Runs `listener` when it ends, at once if it has ended. Returns what removes the listener. */
  #onEnd(listener: () => void): () => void {
    if (this.#reason !== undefined) {
      listener();
      return () => {};
    }
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #stop(reason: StopReason, cause: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.release();
    this.#controller.abort(cause);
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }
}

interface Subscription {
  readonly listeners: Set<() => void>;
  readonly end: () => void;
}

const subscriptions = new WeakMap<AbortSignal, Subscription>();

/**
 * Runs `listener` once when `signal` aborts, at once if it has aborted already. However many calls share a signal, the
 * platform has one listener of this library on it: platforms search a long list at each removal, and Node warns of more
 * than ten. Works with signals of another realm, which `AbortSignal.any` refuses.
 *
 * @param listener a function that was not added to this signal before
 * @returns a function that removes the listener
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => {};
  }
  const subscription = subscriptions.get(signal) ?? subscribe(signal);
  subscription.listeners.add(listener);
  return () => {
    subscription.listeners.delete(listener);
    if (subscription.listeners.size === 0) subscription.end();
  };
}

function subscribe(signal: AbortSignal): Subscription {
  const listeners = new Set<() => void>();
  const run = (): void => {
    end();
    for (const listener of listeners) listener();
  };
  const end = (): void => {
    signal.removeEventListener("abort", run);
    // Another subscription may have begun since.
    if (subscriptions.get(signal)?.listeners === listeners) subscriptions.delete(signal);
  };
  const subscription = { listeners, end };
  signal.addEventListener("abort", run);
  subscriptions.set(signal, subscription);
  return subscription;
}
