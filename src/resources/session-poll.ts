import { onAbort } from "../abort.ts";
import { FUNCTION, INTERVAL, type Shape } from "../check.ts";
import { now, sleep } from "../clock.ts";
import { type AutomationError, noteSession } from "../errors/automation-error.ts";
import { TimeoutError } from "../errors/client-errors.ts";
import { mayPass } from "../errors/may-pass.ts";
import { shortened } from "../jitter.ts";
import type { Session } from "../models.ts";
import { closeable, isClosed } from "../paging/closeable.ts";
import { copyOptions } from "../request/call-options.ts";
import type { CallOptions } from "../request/operation.ts";

/** The options of `sessions.watch`. `totalTimeoutMs` is for the whole watch, the other timeouts are for each poll. */
export interface WatchOptions extends CallOptions {
  /**
   * The first wait between two polls, in milliseconds.
   *
   * @default 1_000
   */
  intervalMs?: number | undefined;
  /**
   * The longest wait between two polls, in milliseconds.
   *
   * @default 15_000
   */
  maxIntervalMs?: number | undefined;
}

/** The options of `sessions.waitFor`. `totalTimeoutMs` is for the whole wait, the other timeouts are for each poll. */
export interface WaitOptions extends WatchOptions {
  /** Ends the wait once it returns `true`. May be asynchronous. What it throws rejects the call as it is. */
  until: (session: Session) => boolean | Promise<boolean>;
}

/** Where polls come from. */
export interface PollSource {
  /** The method that polls, for errors. */
  readonly name: string;
  /** The template of what is polled, for errors. */
  readonly path: string;
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

/** A wait without `totalTimeoutMs` ends when there has been no response at all for so long. */
const LONGEST_OUTAGE_MS = 10 * 60_000;

/** Polls until `until` is true of the session. */
export async function waitFor(source: PollSource, options: WaitOptions): Promise<Session> {
  const { until, ...watchOptions } = copyOptions(options, `${source.name}: options`, WAIT_OPTIONS);
  const poll = new SessionPoll(source, watchOptions, new AbortController());
  for (;;) {
    const session = await poll.next();
    const answer = until(session);
    if (typeof answer === "object" ? await poll.unlessOver(answer) : answer) return session;
  }
}

/** Polls until it is closed, and yields the session whenever its state has changed. */
export function watch(source: PollSource, options: WatchOptions | undefined): AsyncIterableIterator<Session> {
  return closeable((closing) => changesOf(source, options, closing));
}

async function* changesOf(
  source: PollSource,
  options: WatchOptions | undefined,
  closing: AbortController,
): AsyncGenerator<Session, void, undefined> {
  const poll = new SessionPoll(source, copyOptions(options, `${source.name}: options`, WATCH_OPTIONS), closing);
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
    if (!isClosed(closing)) throw error;
  }
}

/** Asks for one session again and again, with growing waits in between. */
class SessionPoll {
  readonly #source: PollSource;
  readonly #callOptions: CallOptions;
  /** The caller's. */
  readonly #signal: AbortSignal | undefined;
  /** Ends the poll or the wait that is pending: follows the caller's signal as long as one is. */
  readonly #closing: AbortController;
  readonly #longestMs: number;
  readonly #firstMs: number;
  readonly #endsAt: number;
  #waitMs: number;
  #isFirst = true;
  #seen: Session | undefined;
  /** Why the latest poll was missed, if it was. */
  #missed: AutomationError | undefined;
  /** Since when polls have brought no response; after a refusal from the end of the pause that it asked for. */
  #silentSince: number | undefined;

  constructor(source: PollSource, options: WatchOptions, closing: AbortController) {
    const {
      intervalMs = 1_000,
      maxIntervalMs = 15_000,
      totalTimeoutMs = source.totalTimeoutMs,
      signal,
      ...callOptions
    } = options;
    this.#source = source;
    this.#callOptions = callOptions;
    this.#signal = signal;
    this.#closing = closing;
    this.#longestMs = maxIntervalMs;
    this.#firstMs = Math.min(intervalMs, maxIntervalMs);
    this.#waitMs = this.#firstMs;
    this.#endsAt = totalTimeoutMs === false ? Number.POSITIVE_INFINITY : now() + totalTimeoutMs;
  }

  /**
   * The session as it is after the next wait; there is none before the first poll. A poll that fails for a reason that
   * may pass is missed, and the next one follows. Every error carries the last session seen.
   */
  async next(): Promise<Session> {
    const leave = this.#follow();
    try {
      let session: Session | undefined;
      while (session === undefined) session = await this.#pollOnce();
      return session;
    } catch (error) {
      noteSession(error, this.#seen);
      throw error;
    } finally {
      leave?.();
    }
  }

  /** The next waits grow from the shortest again. */
  startOver(): void {
    this.#waitMs = this.#firstMs;
  }

  /** What a promise resolves, or `undefined` when the time is over or the signal aborts first: it may stay pending. */
  async unlessOver<Value>(promise: Promise<Value>): Promise<Value | undefined> {
    const settled = new AbortController();
    const leave = this.#signal && onAbort(this.#signal, () => settled.abort());
    const over = sleep(this.#leftMs, settled.signal).then(() => undefined);
    try {
      return await Promise.race([promise, over]);
    } finally {
      leave?.();
      settled.abort();
    }
  }

  /** Waits and polls; `undefined` if the poll was missed. */
  async #pollOnce(): Promise<Session | undefined> {
    const { signal } = this.#closing;
    if (!this.#isFirst) {
      await sleep(Math.min(shortened(this.#waitMs, JITTER, Math.random()), this.#leftMs), signal);
      this.#waitMs = Math.min(this.#waitMs * GROWTH, this.#longestMs);
    }
    this.#isFirst = false;
    if (this.#leftMs === 0 && !signal.aborted) throw this.#timeout();
    try {
      // A call of an aborted signal rejects at once, however much time it has.
      this.#seen = await this.#source.get({ ...this.#callOptions, signal, totalTimeoutMs: this.#leftMs || 1 });
    } catch (error) {
      if (!mayPass(error)) throw error;
      this.#miss(error as AutomationError); // only such an error may pass
      return undefined;
    }
    this.#missed = undefined;
    this.#silentSince = undefined;
    return this.#seen;
  }

  #miss(error: AutomationError): void {
    this.#missed = error;
    if (this.#leftMs === 0) throw this.#timeout();
    const hasAnswered = error.status !== undefined;
    this.#silentSince = hasAnswered ? now() + (error.retryAfterMs ?? 0) : (this.#silentSince ?? now());
    const isEndless = this.#endsAt === Number.POSITIVE_INFINITY;
    if (isEndless && now() - this.#silentSince >= LONGEST_OUTAGE_MS) throw error;
  }

  #follow(): (() => void) | undefined {
    const signal = this.#signal;
    return signal && onAbort(signal, () => this.#closing.abort(signal.reason));
  }

  get #leftMs(): number {
    return Math.max(0, this.#endsAt - now());
  }

  #timeout(): TimeoutError {
    const { name, path } = this.#source;
    const cause = this.#missed;
    return new TimeoutError(`${name}: totalTimeoutMs ran out before the session was as wanted`, {
      phase: "total",
      session: this.#seen,
      method: "GET",
      path,
      outcome: cause?.outcome ?? (this.#seen === undefined ? "not_sent" : "accepted"),
      attempts: cause?.attempts,
      ...(cause === undefined ? {} : { cause }),
    });
  }
}
