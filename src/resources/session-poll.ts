import { FUNCTION, INTERVAL, type Shape } from "../check.ts";
import { now, sleep } from "../clock.ts";
import { TimeoutError } from "../errors/client-errors.ts";
import { shortened } from "../jitter.ts";
import type { Session } from "../models.ts";
import { copyOptions } from "../request/call-options.ts";
import type { CallOptions } from "../request/operation.ts";

/** What `sessions.watch` takes. */
export interface WatchOptions extends CallOptions {
  /** The first wait between two polls, in milliseconds. Default 1 000. */
  intervalMs?: number | undefined;
  /** The longest wait between two polls, in milliseconds. Default 15 000. */
  maxIntervalMs?: number | undefined;
}

/** What `sessions.waitFor` takes. */
export interface WaitOptions extends WatchOptions {
  /** Ends the wait when it is true. May be async. */
  until: (session: Session) => boolean | Promise<boolean>;
}

/** Where polls come from. */
export interface PollSource {
  /** The method that polls, for errors. */
  readonly name: string;
  readonly get: (options: CallOptions) => Promise<Session>;
  /** The client's. */
  readonly totalTimeoutMs: number;
}

const WATCH_OPTIONS: Shape<Omit<WatchOptions, keyof CallOptions>> = { intervalMs: INTERVAL, maxIntervalMs: INTERVAL };
const WAIT_OPTIONS: Shape<Omit<WaitOptions, keyof CallOptions>> = {
  ...WATCH_OPTIONS,
  until: { ...FUNCTION, required: true },
};

const GROWTH = 1.5;
const JITTER = 1 / 4;

/** Polls until `until` is true of the session. */
export async function waitFor(source: PollSource, options: WaitOptions): Promise<Session> {
  const { until, ...watchOptions } = copyOptions(options, `${source.name}: options`, WAIT_OPTIONS);
  const poll = new SessionPoll(source, watchOptions, watchOptions.signal);
  for (;;) {
    const session = await poll.next();
    const answer = until(session);
    if (typeof answer === "object" ? await poll.unlessOver(answer) : answer) return session;
  }
}

/** Why a watch ends that is left. */
const LEFT: unique symbol = Symbol("left");

/** Polls until it is left, and yields the session whenever its state is another. */
export function watch(source: PollSource, options: WatchOptions | undefined): AsyncIterableIterator<Session> {
  const left = new AbortController();
  const changes = changesOf(source, options, left);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => changes.next(),
    // A generator would first wait for the poll under way, and for the wait before it.
    return: () => {
      left.abort(LEFT);
      return changes.return();
    },
  };
}

async function* changesOf(
  source: PollSource,
  options: WatchOptions | undefined,
  left: AbortController,
): AsyncGenerator<Session, void, undefined> {
  const given = copyOptions<WatchOptions>(options, `${source.name}: options`, WATCH_OPTIONS);
  const poll = new SessionPoll(source, given, left.signal);
  const unfollow = follow(left, given.signal);
  let state: string | undefined;
  try {
    for (;;) {
      const session = await poll.next();
      if (session.state === state) continue;
      state = session.state;
      poll.startOver();
      yield session;
    }
  } catch (error) {
    if (left.signal.reason !== LEFT) throw error;
  } finally {
    unfollow();
  }
}

/** Asks for one session again and again, with growing waits in between. */
class SessionPoll {
  readonly #source: PollSource;
  readonly #callOptions: CallOptions;
  readonly #signal: AbortSignal | undefined;
  readonly #longestMs: number;
  readonly #firstMs: number;
  readonly #endsAt: number;
  #waitMs: number;
  #seen: Session | undefined;

  constructor(source: PollSource, options: WatchOptions, signal: AbortSignal | undefined) {
    const { intervalMs = 1_000, maxIntervalMs = 15_000, totalTimeoutMs = source.totalTimeoutMs, ...others } = options;
    this.#source = source;
    this.#callOptions = { ...others, signal };
    this.#signal = signal;
    this.#longestMs = maxIntervalMs;
    this.#firstMs = Math.min(intervalMs, maxIntervalMs);
    this.#waitMs = this.#firstMs;
    this.#endsAt = totalTimeoutMs === false ? Number.POSITIVE_INFINITY : now() + totalTimeoutMs;
  }

  /** The session as it is after the next wait; the first is not waited for. */
  async next(): Promise<Session> {
    if (this.#seen !== undefined) {
      await sleep(Math.min(shortened(this.#waitMs, JITTER, Math.random()), this.#leftMs), this.#signal);
      this.#waitMs = Math.min(this.#waitMs * GROWTH, this.#longestMs);
    }
    if (this.#leftMs === 0 && !this.#signal?.aborted) throw this.#timeout();
    try {
      // An aborted call needs no time to say so.
      this.#seen = await this.#source.get({ ...this.#callOptions, totalTimeoutMs: this.#leftMs || 1 });
      return this.#seen;
    } catch (error) {
      throw error instanceof TimeoutError && this.#leftMs === 0 ? this.#timeout(error) : error;
    }
  }

  /** Waits grow from the shortest again. */
  startOver(): void {
    this.#waitMs = this.#firstMs;
  }

  /** What a promise comes to, or `undefined` when the time is over or the signal aborts: it may hang. */
  async unlessOver<Value>(promise: Promise<Value>): Promise<Value | undefined> {
    const settled = new AbortController();
    const unfollow = follow(settled, this.#signal);
    const over = sleep(this.#leftMs, settled.signal).then(() => undefined);
    try {
      return await Promise.race([promise, over]);
    } finally {
      unfollow();
      settled.abort();
    }
  }

  get #leftMs(): number {
    return Math.max(0, this.#endsAt - now());
  }

  #timeout(cause?: TimeoutError): TimeoutError {
    return new TimeoutError(`${this.#source.name}: totalTimeoutMs ran out before the session was as wanted`, {
      phase: "total",
      session: this.#seen,
      method: "GET",
      path: "/sessions/{}",
      outcome: cause?.outcome ?? (this.#seen === undefined ? "not_sent" : "accepted"),
      attempts: cause?.attempts,
      ...(cause === undefined ? {} : { cause }),
    });
  }
}

// Not by `AbortSignal.any`, which takes no signals of another realm. Gives what ends it.
function follow(controller: AbortController, signal: AbortSignal | undefined): () => void {
  const abort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort);
  if (signal?.aborted) abort();
  return () => signal?.removeEventListener("abort", abort);
}
