import type { CallOptions } from "../core/call/call-options.ts";
import type { OperationFields, Origin } from "../core/call/operation.ts";
import type { Send } from "../core/call/send.ts";
import type { ParsedCallOptions } from "../core/call/settings.ts";
import type { Range } from "../core/checks/validators.ts";
import { type AutomationError, annotate, isBrandedError } from "../core/errors/automation-error.ts";
import { AbortError, TimeoutError } from "../core/errors/classes.ts";
import { now } from "../core/time/clock.ts";
import { Deadline, STOPPED } from "../core/time/deadline.ts";
import { shortened } from "../core/time/jitter.ts";
import { pathOf } from "../core/wire/path.ts";
import type { Session } from "./models.ts";
import { delayOfPoll, NO_OUTAGE, type Outage, outageAfter } from "./outage.ts";
import { sessionValidator } from "./schemas/validators.ts";

export function getSession(id: string, options: ParsedCallOptions): OperationFields<Session> {
  const path = pathOf("/sessions/{id}", { id });
  return { method: "GET", path, fields: [], schema: sessionValidator, scope: "sessions:read", options };
}

export interface Wait {
  readonly name: string;
  readonly id: string;
  readonly isWanted: (session: Session) => boolean | Promise<boolean>;
  /** Ends the wait, and the poll that is under way. */
  readonly closing?: Deadline;
  readonly fetch: Origin<Session>["fetch"];
}

export interface PollOptions extends ParsedCallOptions {
  /** The first and the longest wait between two polls, in milliseconds. */
  readonly intervals: Range;
}

const GROWTH = 1.5;
const JITTER = 1 / 4;

/** After so long without a change of state, the logger warns of a wait that has no time limit. In milliseconds. */
const STALLED_MS = 10 * 60_000;

/**
 * The polls of one wait. The waits between them grow until a session is wanted. A poll that fails for a reason that may
 * pass is followed by the next one. Between two calls of `next()` there is no timer.
 */
export class SessionPolls {
  readonly #send: Send;
  readonly #wait: Wait;
  readonly #intervals: Range;
  readonly #signal: AbortSignal | undefined;
  readonly #totalTimeoutMs: number;
  readonly #operation: OperationFields<Session>;
  readonly #began: number = now();
  /** The waits between polls so far, in milliseconds. */
  #sleptMs = 0;
  /** The wait before the next poll; 0 before the first. */
  #waitMs = 0;
  #outage: Outage = NO_OUTAGE;
  #isAnswered = false;
  #session: Session | undefined;
  /** The latest state: since when the wait sees it, and whether it needs no warning any more. */
  #seen: { readonly state: unknown; readonly since: number; isTold: boolean } | undefined;

  constructor(send: Send, wait: Wait, { intervals, signal, ...options }: PollOptions) {
    const { totalTimeoutMs = send.totalTimeoutMs, onResponse: tell } = options;
    const onResponse: CallOptions["onResponse"] = (response) => {
      this.#isAnswered = true;
      return tell?.(response);
    };
    this.#send = send;
    this.#wait = wait;
    this.#intervals = intervals;
    this.#signal = signal;
    this.#totalTimeoutMs = totalTimeoutMs;
    // The wait ends its polls.
    const ofPoll = { ...options, totalTimeoutMs: Number.POSITIVE_INFINITY, onResponse };
    this.#operation = send.parse(wait.name, () => ({ ...getSession(wait.id, ofPoll), isPoll: true }));
  }

  /** Polls until a session is wanted. `totalTimeoutMs` is for all of these searches together. */
  async next(): Promise<Session> {
    const { name, isWanted, closing } = this.#wait;
    const leftMs = this.#totalTimeoutMs - this.#passedMs;
    const limit = this.#send.parse(name, () => Deadline.of(leftMs, this.#signal, closing));
    try {
      for (;;) {
        const polled = await this.#poll(limit);
        if (polled === undefined || !(await limit.race(Promise.resolve(isWanted(polled.data))))) continue;
        this.#waitMs = this.#intervals[0];
        return polled.data;
      }
    } catch (error) {
      throw error === STOPPED ? this.#stopped(limit) : error;
    } finally {
      limit.release();
    }
  }

  /** Fake timers may leave the clock alone: then the waits that are over say how much time has passed. */
  get #passedMs(): number {
    return Math.max(now() - this.#began, this.#sleptMs);
  }

  get #isBounded(): boolean {
    return Number.isFinite(this.#totalTimeoutMs);
  }

  /** One poll: the session, or `undefined` if it was missed. Rejects with what ends the wait. */
  async #poll(limit: Deadline): Promise<{ readonly data: Session } | undefined> {
    const delayMs = await this.#sleep(limit);
    const sentAt = now();
    this.#isAnswered = false;
    try {
      const { name, fetch } = this.#wait;
      const origin: Origin<Session> = { outer: limit, progress: (session) => this.#look(session), fetch };
      const polled = await this.#send.call(name, () => this.#operation, origin);
      this.#session = polled.data;
      this.#outage = NO_OUTAGE;
      return polled;
    } catch (error) {
      this.#miss(error as AutomationError, { limit, tookMs: delayMs + now() - sentAt }); // a call rejects with nothing else
      return undefined;
    }
  }

  async #sleep(limit: Deadline): Promise<number> {
    const [first, longest] = this.#intervals;
    const waitMs = this.#waitMs;
    this.#waitMs = Math.min(waitMs === 0 ? first : waitMs * GROWTH, longest);
    if (waitMs === 0) return 0;
    const delayMs = delayOfPoll(this.#outage, shortened(waitMs, JITTER, Math.random()));
    await limit.sleep(delayMs);
    this.#sleptMs += delayMs;
    if (limit.endsNow()) throw STOPPED;
    return delayMs;
  }

  /** Throws what ends the wait. */
  #miss(failure: AutomationError, { limit, tookMs }: { readonly limit: Deadline; readonly tookMs: number }): void {
    if (limit.endsNow()) {
      // A failure from before says more than the poll that the end of the wait has ended.
      this.#outage = { ...this.#outage, missed: this.#outage.missed ?? failure };
      throw STOPPED;
    }
    annotate(failure, "session", this.#session);
    const poll = { failure, tookMs, isAnswered: this.#isAnswered, isBounded: this.#isBounded };
    const outage = outageAfter(this.#outage, poll);
    if (outage === undefined) throw failure;
    this.#outage = outage;
  }

  /** The event of a poll that has brought a session. */
  #look(session: Session): ReturnType<NonNullable<Origin<Session>["progress"]>> {
    const state = stateOf(session);
    const passedMs = this.#passedMs;
    if (this.#seen === undefined || this.#seen.state !== state) {
      this.#seen = { state, since: passedMs, isTold: this.#isBounded };
    }
    const unchangedMs = passedMs - this.#seen.since;
    const stalled = !this.#seen.isTold && unchangedMs >= STALLED_MS;
    this.#seen.isTold ||= stalled;
    return { type: "poll", state: this.#shown(state), unchangedMs, stalled };
  }

  #shown(state: unknown): string {
    return this.#send.short(String(state)) ?? "";
  }

  #stopped({ reason, signal }: Deadline): AutomationError {
    const { name } = this.#wait;
    const { method, path } = this.#operation;
    const { missed } = this.#outage;
    const session = this.#session;
    const answered = session === undefined ? "not_sent" : "accepted";
    const outcome = missed === undefined ? answered : missed.outcome;
    const details = { method, path: path.template, outcome, attempts: missed?.attempts };
    const seen =
      session === undefined
        ? "no state was seen"
        : `the last state was ${JSON.stringify(this.#shown(stateOf(session)))}`;
    const during = `during the wait; ${seen}${missed === undefined ? "" : whyMissed(missed)}`;
    const error =
      reason === "abort"
        ? new AbortError(`${name}: aborted by the caller ${during}`, { ...details, cause: signal.reason })
        : new TimeoutError(`${name}: totalTimeoutMs (${this.#totalTimeoutMs}) ran out ${during}`, {
            ...details,
            phase: "total",
            cause: missed,
          });
    return annotate(error, "session", session);
  }
}

/** Where validation is lenient, a session may be anything, and its state too. */
export function stateOf(session: Session | null): unknown {
  return session?.state;
}

/** The failure of the latest poll in words; of one that the end of the wait has ended, the failure before that. */
function whyMissed(missed: AutomationError): string {
  const { message } = isBrandedError(missed.cause) ? missed.cause : missed;
  return `; the last poll failed: ${message.replace(/^sessions\.\w+: /, "")}`;
}
