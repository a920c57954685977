import { FUNCTION, INTERVAL, required, type Shape } from "../base/check.ts";
import { now, shortened } from "../base/clock.ts";
import { Deadline, STOPPED } from "../base/deadline.ts";
import { type AutomationError, note } from "../errors/automation-error.ts";
import { beginStackInAwaiter } from "../errors/caller-stack.ts";
import { AbortError, TimeoutError } from "../errors/classes.ts";
import { mayPass } from "../errors/guard.ts";
import type { Session } from "../models.ts";
import { closeable } from "../paging/iterators.ts";
import type { Operation, Send } from "../request/operation.ts";
import { type CallOptions, type CheckedOptions, readOptions } from "../request/settings.ts";
import { pathOf } from "../request/url.ts";
import { sessionValidator } from "../schemas/validators.ts";
import { deferErrors } from "./list.ts";

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

const WATCH_OPTIONS: Shape<Omit<WatchOptions, keyof CallOptions>> = { intervalMs: INTERVAL, maxIntervalMs: INTERVAL };
const WAIT_OPTIONS: Shape<Omit<WaitOptions, keyof CallOptions>> = { ...WATCH_OPTIONS, until: required(FUNCTION) };

const PATH = "/sessions/{id}";

/** Asks for one session. */
export function getSession(id: string, options: CheckedOptions): Omit<Operation<Session>, "name"> {
  return { method: "GET", path: pathOf(PATH, { id }), schema: sessionValidator, scope: "sessions:read", options };
}

/** Polls a session until `until` is true of it. */
export async function waitFor(send: Send, id: string, last: readonly [options: WaitOptions]): Promise<Session> {
  const name = "sessions.waitFor";
  try {
    const { until, ...options } = send.check(name, () => readOptions(last, WAIT_OPTIONS));
    const { value } = await polls({ send, name, id, isWanted: until }, options).next();
    return value;
  } catch (error) {
    throw await beginStackInAwaiter(error, waitFor);
  }
}

/** Polls a session until it is closed, and yields it whenever its state has changed. */
export function watch(
  send: Send,
  id: string,
  last: readonly [options?: WatchOptions | undefined],
): AsyncIterable<Session> {
  const name = "sessions.watch";
  const read = deferErrors(() => send.check(name, () => readOptions(last, WATCH_OPTIONS)));
  async function* changes(closing: Deadline): AsyncGenerator<Session, void, undefined> {
    let state: unknown = NO_STATE;
    try {
      const wait = { send, name, id, closing, isWanted: (seen: Session) => stateOf(seen) !== state };
      for await (const session of polls(wait, read())) {
        state = stateOf(session);
        yield session;
      }
    } catch (error) {
      if (closing.reason === undefined) throw await beginStackInAwaiter(error, changes);
    }
  }
  return { [Symbol.asyncIterator]: () => closeable(changes) };
}

/** No state is equal to it. */
const NO_STATE = Symbol("no state has been seen");

/** Where validation is lenient, a session may be anything, and its state too. */
function stateOf(session: Session | null): unknown {
  return session?.state;
}

const GROWTH = 1.5;
const JITTER = 1 / 4;

/** A wait without `totalTimeoutMs` ends when there has been no response at all for so long. */
const LONGEST_OUTAGE_MS = 10 * 60_000;

/** A wait for a session, and what its polls have come to. */
interface Wait {
  readonly send: Send;
  /** The method, for errors. */
  readonly name: string;
  readonly id: string;
  readonly isWanted: (session: Session) => boolean | Promise<boolean>;
  /** Ends it, and the poll that is under way. */
  readonly closing?: Deadline;
  /** The latest session. */
  seen?: Session;
  /** Why the latest poll was missed, if it was. */
  missed?: AutomationError | undefined;
  /** Since when polls have brought no response; after a refusal from the end of the pause that it asked for. */
  silentSince?: number | undefined;
}

/**
 * The sessions that are wanted. Waits grow from the shortest until there is one. A poll that fails for a reason that may
 * pass is missed, and the next one follows. While a session is looked at by its consumer there is no timer.
 */
async function* polls(
  wait: Wait,
  options: CheckedOptions & Pick<WatchOptions, "intervalMs" | "maxIntervalMs">,
): AsyncGenerator<Session, never, undefined> {
  const { send, name, id, isWanted, closing } = wait;
  const { intervalMs = 1_000, maxIntervalMs = 15_000, signal, totalTimeoutMs, ...others } = options;
  const limitMs = totalTimeoutMs ?? send.totalTimeoutMs;
  const endsAt = now() + limitMs;
  for (let waitMs = 0; ; waitMs = Math.min(intervalMs, maxIntervalMs)) {
    const within = send.check(name, () => Deadline.of(endsAt - now(), signal, closing));
    const describe = () => ({ ...getSession(id, { ...others, totalTimeoutMs: Number.POSITIVE_INFINITY }), within });
    try {
      for (let isFound = false; !isFound; ) {
        // Not before a 503 asked for; the pause of a 429 is the rate limiter's, and ends with its token.
        const askedMs = (wait.missed?.status === 503 && wait.missed.retryAfterMs) || 0;
        if (waitMs > 0) await within.sleep(Math.max(askedMs, shortened(waitMs, JITTER, Math.random())));
        waitMs = Math.min(waitMs > 0 ? waitMs * GROWTH : intervalMs, maxIntervalMs);
        const session = await send(name, describe).catch((error: AutomationError) => miss(wait, error, within));
        if (session === undefined) continue;
        Object.assign(wait, { seen: session, missed: undefined, silentSince: undefined });
        isFound = await within.race(Promise.resolve(isWanted(session)));
      }
    } catch (error) {
      throw error === STOPPED ? stoppedError(wait, limitMs, within) : error;
    } finally {
      within.release();
    }
    yield wait.seen as Session; // the one that was found
  }
}

/** Notes a poll that failed. Throws what ends the wait: the end of its deadline, or a failure that does not pass. */
function miss(wait: Wait, failure: AutomationError, within: Deadline): undefined {
  if (within.reason !== undefined) {
    wait.missed ??= failure;
    throw STOPPED;
  }
  wait.missed = failure;
  const heardAt = failure.status === undefined ? wait.silentSince : now() + (failure.retryAfterMs ?? 0);
  wait.silentSince = heardAt ?? now();
  const isTooLong = within.endsAt === Number.POSITIVE_INFINITY && now() - wait.silentSince >= LONGEST_OUTAGE_MS;
  if (mayPass(failure) && !isTooLong) return;
  note(failure, "session", wait.seen);
  throw failure;
}

function stoppedError(wait: Wait, limitMs: number, { reason, signal }: Deadline): AutomationError {
  const { send, name, seen: session, missed } = wait;
  const outcome = missed?.outcome ?? (session === undefined ? "not_sent" : "accepted");
  const details = { method: "GET", path: PATH, outcome, attempts: missed?.attempts, session };
  const state = session && `the last state was ${JSON.stringify(send.brief(String(stateOf(session))) ?? "")}`;
  const during = `during the wait; ${state ?? "no state was seen"}`;
  if (reason === "abort") {
    return new AbortError(`${name}: aborted by the caller ${during}`, { ...details, cause: signal.reason });
  }
  const cause = missed && { cause: missed };
  const message = `${name}: totalTimeoutMs (${limitMs}) ran out ${during}`;
  return new TimeoutError(message, { ...details, phase: "total", ...cause });
}
