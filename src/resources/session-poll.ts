import { now, sleep } from "../clock.ts";
import { describeType } from "../describe-type.ts";
import { ArgumentError, TimeoutError } from "../errors/failures.ts";
import type { Session } from "../models.ts";
import type { CallOptions } from "../request/operation.ts";
import { SettingsCheck } from "../request/settings.ts";
import { fields, refuse } from "./inputs.ts";

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

const check: SettingsCheck = new SettingsCheck(ArgumentError);

const GROWTH = 1.5;
/** Waits are cut by up to this part, so that many waiters do not ask in step. */
const SPREAD = 0.25;

const ENDED: unique symbol = Symbol("ended");

/** How a wait goes, from its options. */
interface Plan {
  readonly firstMs: number;
  readonly longestMs: number;
  readonly callOptions: CallOptions;
  /** On the monotonic clock. */
  readonly deadline: number;
}

/** Asks for one session again and again. */
export class SessionPoll {
  readonly #name: string;
  readonly #get: (options: CallOptions) => Promise<Session>;
  readonly #totalTimeoutMs: number;

  constructor(name: string, get: (options: CallOptions) => Promise<Session>, totalTimeoutMs: number) {
    this.#name = name;
    this.#get = get;
    this.#totalTimeoutMs = totalTimeoutMs;
  }

  async until(options: WaitOptions): Promise<Session> {
    const { until, ...watchOptions } = fields(options, `${this.#name}: options`) as unknown as WaitOptions; // checked below
    if (typeof until !== "function") refuse(`${this.#name}: until must be a function, not ${describeType(until)}`);
    const plan = this.#plan(watchOptions);
    for await (const session of this.#polls(plan, () => false)) {
      const answer = until(session);
      if (typeof answer === "object" ? await this.#awaited(answer, plan, session) : answer) return session;
    }
    throw new Error("unreachable: polls end only by an error");
  }

  changes(options: WatchOptions | undefined): AsyncIterableIterator<Session> {
    const left = new AbortController();
    const changes = this.#changes(options, left.signal);
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () => changes.next(),
      // A generator would first wait for the poll under way, and for the wait before it.
      return: () => {
        left.abort();
        return changes.return();
      },
    };
  }

  async *#changes(options: WatchOptions | undefined, left: AbortSignal): AsyncGenerator<Session, void, undefined> {
    const plan = this.#plan(options === undefined ? {} : options);
    const { signal } = plan.callOptions;
    const callOptions = { ...plan.callOptions, signal: signal === undefined ? left : AbortSignal.any([left, signal]) };
    let state: string | undefined;
    const changed = (session: Session): boolean => session.state !== state;
    try {
      for await (const session of this.#polls({ ...plan, callOptions }, changed)) {
        if (!changed(session)) continue;
        state = session.state;
        yield session;
      }
    } catch (error) {
      if (!left.aborted) throw error;
    }
  }

  #plan(options: WatchOptions): Plan {
    const { intervalMs, maxIntervalMs, ...callOptions } = fields(options, `${this.#name}: options`) as WatchOptions; // the rest is checked in the pipeline
    check.signal(callOptions.signal);
    const longestMs = interval(maxIntervalMs, 15_000, `${this.#name}: maxIntervalMs`);
    const firstMs = Math.min(interval(intervalMs, 1_000, `${this.#name}: intervalMs`), longestMs);
    return { firstMs, longestMs, callOptions, deadline: now() + this.#totalMs(callOptions.totalTimeoutMs) };
  }

  /** Every session seen. `isNews` starts the waits over from the shortest. */
  async *#polls(plan: Plan, isNews: (session: Session) => boolean): AsyncGenerator<Session, never, undefined> {
    let last: Session | undefined;
    let waitMs = plan.firstMs;
    for (;;) {
      const session = await this.#ask(plan, last);
      if (isNews(session)) waitMs = plan.firstMs;
      last = session;
      yield session;
      const cut = waitMs * (1 - SPREAD * Math.random());
      await sleep(Math.min(cut, Math.max(0, plan.deadline - now())), plan.callOptions.signal);
      waitMs = Math.min(waitMs * GROWTH, plan.longestMs);
    }
  }

  async #ask({ callOptions, deadline }: Plan, last: Session | undefined): Promise<Session> {
    const leftMs = deadline - now();
    if (leftMs <= 0 && !callOptions.signal?.aborted) throw this.#timeout(last);
    try {
      const totalTimeoutMs = leftMs === Number.POSITIVE_INFINITY ? callOptions.totalTimeoutMs : Math.max(leftMs, 1);
      return await this.#get({ ...callOptions, totalTimeoutMs });
    } catch (error) {
      if (error instanceof TimeoutError && deadline - now() <= 0) throw this.#timeout(last, error);
      throw error;
    }
  }

  /** What an asynchronous `until` answers. It may hang: the budget and the signal end it. */
  async #awaited(answer: Promise<boolean>, plan: Plan, session: Session): Promise<boolean> {
    const { signal } = plan.callOptions;
    const answered = new AbortController();
    const signals = signal === undefined ? [answered.signal] : [answered.signal, signal];
    const ended = sleep(plan.deadline - now(), AbortSignal.any(signals)).then((): typeof ENDED => ENDED);
    try {
      const first = await Promise.race([answer, ended]);
      if (first !== ENDED) return first;
    } finally {
      answered.abort();
    }
    await this.#ask(plan, session);
    throw this.#timeout(session);
  }

  // What is no timeout at all is refused by the pipeline, which checks it again.
  #totalMs(given: CallOptions["totalTimeoutMs"]): number {
    if (given === undefined) return this.#totalTimeoutMs;
    return typeof given === "number" && given > 0 ? given : Number.POSITIVE_INFINITY;
  }

  #timeout(session: Session | undefined, cause?: TimeoutError): TimeoutError {
    const seen = session === undefined ? "none was seen" : "the last one seen is in `session`";
    return new TimeoutError(`${this.#name}: totalTimeoutMs ran out before the session was as wanted; ${seen}`, {
      phase: "total",
      session,
      method: "GET",
      path: "/sessions/{}",
      outcome: cause?.outcome ?? "not_sent",
      ...(cause === undefined ? {} : { attempts: cause.attempts, cause }),
    });
  }
}

function interval(value: unknown, otherwise: number, what: string): number {
  if (value === undefined) return otherwise;
  if (typeof value === "number" && value > 0) return value;
  return refuse(
    `${what} must be a number of milliseconds above 0, not ${typeof value === "number" ? value : describeType(value)}`,
  );
}
