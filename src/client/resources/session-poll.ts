import type { CallOptions } from "../call/call-options.ts";
import type { Operation, OperationFields, Send } from "../call/operation.ts";
import { pathOf } from "../call/path.ts";
import { type CheckedOptions, readOptions } from "../call/settings.ts";
import { INTERVAL, type ObjectSchema } from "../checks/validators.ts";
import { type AutomationError, annotate, isBrandedError } from "../errors/automation-error.ts";
import { AbortError, TimeoutError } from "../errors/classes.ts";
import type { Session } from "../models.ts";
import { sessionValidator } from "../schemas/validators.ts";
import { now } from "../time/clock.ts";
import { Deadline, STOPPED } from "../time/deadline.ts";
import { shortened } from "../time/jitter.ts";
import { deferErrors } from "./list.ts";
import { delayOfPoll, type Outage, outageAfter } from "./outage.ts";
import { UNTIL } from "./until.ts";

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
  /**
   * Ends the wait once it returns `true`. It may be asynchronous. The call rejects with what it throws, as it is, and with an
   * `ArgumentError` if it returns no boolean.
   */
  until: (session: Session) => boolean | Promise<boolean>;
}

const WATCH_OPTIONS: ObjectSchema<Omit<WatchOptions, keyof CallOptions>> = {
  intervalMs: INTERVAL,
  maxIntervalMs: INTERVAL,
};
const WAIT_OPTIONS: ObjectSchema<Omit<WaitOptions, keyof CallOptions>> = {
  ...WATCH_OPTIONS,
  until: UNTIL,
};

/** Asks for one session. */
export function getSession(id: string, options: CheckedOptions): OperationFields<Session> {
  const path = pathOf("/sessions/{id}", { id });
  return { method: "GET", path, fields: [], schema: sessionValidator, scope: "sessions:read", options };
}

/** Polls a session until `until` is true of it. */
export function waitFor(send: Send, id: string, last: readonly [options: WaitOptions]): Promise<Session> {
  const name = "sessions.waitFor";
  return (async () => {
    const { until, ...options } = send.check(name, () => readOptions(last, WAIT_OPTIONS));
    const { value } = await polls(send, { name, id, isWanted: until }, options).next();
    return value;
  })();
}

/** Polls a session until `closing` ends, and yields it whenever its state has changed: the changes, from each call. */
export function watch(
  send: Send,
  id: string,
  last: readonly [options?: WatchOptions | undefined],
): (closing: Deadline) => AsyncGenerator<Session, void, undefined> {
  const name = "sessions.watch";
  const read = deferErrors(() => send.check(name, () => readOptions(last, WATCH_OPTIONS)));
  return (closing) => {
    // The states and not the sessions are compared: the consumer may change a session that it was handed.
    let latest: readonly unknown[] = [];
    const isWanted = (seen: Session): boolean => {
      const state = stateOf(seen);
      const isNew = !latest.includes(state);
      latest = [state];
      return isNew;
    };
    return polls(send, { name, id, isWanted, closing }, read());
  };
}

/** Where validation is lenient, a session may be anything, and its state too. */
function stateOf(session: Session | null): unknown {
  return session?.state;
}

const GROWTH = 1.5;
const JITTER = 1 / 4;

/** A wait for sessions. */
interface Wait {
  /** The method, for errors. */
  readonly name: string;
  readonly id: string;
  readonly isWanted: (session: Session) => boolean | Promise<boolean>;
  /** Ends the wait, and the poll that is under way. */
  readonly closing?: Deadline;
}

type PollOptions = CheckedOptions & Pick<WatchOptions, "intervalMs" | "maxIntervalMs">;

/**
 * The sessions that are wanted, one after the other. The waits between polls grow until there is one. A poll that fails for
 * a reason that may pass is followed by the next one. While its consumer looks at a session there is no timer.
 */
async function* polls(
  send: Send,
  { name, id, isWanted, closing }: Wait,
  checked: PollOptions | Promise<PollOptions>,
): AsyncGenerator<Session, never, undefined> {
  const { intervalMs = 1_000, maxIntervalMs = 15_000, signal, ...options } = await checked;
  const { totalTimeoutMs = send.totalTimeoutMs } = options;
  let outage: Outage = { silentSince: 0, missed: undefined };
  const onResponse: CallOptions["onResponse"] = (response) => {
    outage = { ...outage, silentSince: now() };
    return options.onResponse?.(response);
  };
  const poll = send.check(name, () => getSession(id, { ...options, onResponse }));
  const endsAt = now() + totalTimeoutMs;
  let waitMs = 0;
  let session: Session | undefined;
  for (;;) {
    const within = send.check(name, () => Deadline.of(endsAt - now(), signal, closing?.signal));
    let isFound = false;
    try {
      const delayMs = delayOfPoll(outage, shortened(waitMs, JITTER, Math.random()), now());
      if (waitMs > 0) await within.sleep(delayMs);
      waitMs = Math.min(waitMs === 0 ? intervalMs : waitMs * GROWTH, maxIntervalMs);
      const limited = { ...poll, options: { ...poll.options, signal, totalTimeoutMs: within.leftMs } };
      const polled = await send(name, () => limited, { within: closing?.signal }).catch(
        (error: AutomationError) => error,
      );
      if (!isBrandedError(polled)) {
        session = polled.data;
        outage = { ...outage, missed: undefined };
        isFound = await within.race(Promise.resolve(isWanted(session)));
      } else {
        if (within.reason !== undefined || within.leftMs === 0) {
          // A failure from before says more than the poll that the end of the wait has ended.
          outage = { ...outage, missed: outage.missed ?? polled };
          throw STOPPED;
        }
        annotate(polled, "session", session);
        const isBounded = totalTimeoutMs !== Number.POSITIVE_INFINITY;
        const next = outageAfter(outage, { failure: polled, at: now(), isBounded });
        if (next === undefined) throw polled;
        outage = next;
      }
    } catch (error) {
      if (error !== STOPPED) throw error;
      const wait = { ...poll, name, totalTimeoutMs, session, missed: outage.missed };
      throw annotate(stoppedError(send, within, wait), "session", session);
    } finally {
      within.release();
    }
    if (isFound) {
      yield session as Session; // the one that was found
      waitMs = Math.min(intervalMs, maxIntervalMs);
    }
  }
}

/** A wait that was stopped. */
interface Stopped extends Pick<Operation<Session>, "name" | "method" | "path"> {
  readonly totalTimeoutMs: number;
  readonly session: Session | undefined;
  readonly missed: AutomationError | undefined;
}

function stoppedError(send: Send, { reason, signal }: Deadline, wait: Stopped): AutomationError {
  const { name, method, path, totalTimeoutMs, session, missed } = wait;
  const answered = session === undefined ? "not_sent" : "accepted";
  const outcome = missed === undefined ? answered : missed.outcome;
  const details = { method, path: path.template, outcome, attempts: missed?.attempts };
  const state = session && `the last state was ${JSON.stringify(send.short(String(stateOf(session))) ?? "")}`;
  const during = `during the wait; ${state ?? "no state was seen"}`;
  if (reason === "abort") {
    return new AbortError(`${name}: aborted by the caller ${during}`, { ...details, cause: signal.reason });
  }
  const message = `${name}: totalTimeoutMs (${totalTimeoutMs}) ran out ${during}`;
  return new TimeoutError(message, { ...details, phase: "total", cause: missed });
}
