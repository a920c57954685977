import { now, shortened } from "../base/clock.ts";
import { Deadline, STOPPED } from "../base/deadline.ts";

import { type AutomationError, note } from "../errors/automation-error.ts";

import { beginStackInAwaiter } from "../errors/caller-stack.ts";
import { AbortError, TimeoutError } from "../errors/client-errors.ts";
import { mayPass } from "../errors/may-pass.ts";
import type { Session } from "../models.ts";
import { closeable } from "../paging/iterators.ts";
import type { Operation, Send } from "../request/operation.ts";
import type { CheckedOptions } from "../request/settings.ts";
import { pathOf } from "../request/url.ts";
import { sessionValidator } from "../schemas/validators.ts";

/** The method that polls, and the session. */
interface Polled {
  readonly send: Send;
  readonly name: string;
  readonly id: string;
}

/** Options of a wait, checked: those of its polls, and the waits between them. */
type PollOptions = CheckedOptions & { readonly intervalMs?: number; readonly maxIntervalMs?: number };

type IsWanted = (session: Session) => boolean | Promise<boolean>;

/** Asks for one session. */
export function getSession(id: string, options: CheckedOptions): Omit<Operation<Session>, "name"> {
  return { method: "GET", path: pathOf(PATH, { id }), schema: sessionValidator, scope: "sessions:read", options };
}

/** Polls until `until` is true of the session. */
export async function waitFor(
  polled: Polled,
  read: () => PollOptions & { readonly until: IsWanted },
): Promise<Session> {
  try {
    const { until, ...options } = polled.send.check(polled.name, read);
    const { value } = await polls(polled, options, { isWanted: until }).next();
    return value;
  } catch (error) {
    throw await beginStackInAwaiter(error, waitFor);
  }
}

/** Polls until it is closed, and yields the session whenever its state has changed. `read` runs with the first poll. */
export function watch(polled: Polled, read: () => PollOptions): AsyncIterable<Session> {
  return { [Symbol.asyncIterator]: () => closeable((closing) => changes(polled, read, closing)) };
}

async function* changes(
  polled: Polled,
  read: () => PollOptions,
  closing: Deadline,
): AsyncGenerator<Session, void, undefined> {
  let state: string | undefined;
  try {
    for await (const session of polls(polled, read(), { isWanted: (seen) => seen.state !== state, closing })) {
      state = session.state;
      yield session;
    }
  } catch (error) {
    if (closing.reason === undefined) throw await beginStackInAwaiter(error, changes);
  }
}

const PATH = "/sessions/{id}";
const GROWTH = 1.5;
const JITTER = 1 / 4;

/** A wait without `totalTimeoutMs` ends when there has been no response at all for so long. */
const LONGEST_OUTAGE_MS = 10 * 60_000;

/** What the polls of a wait have come to. */
interface Progress {
  readonly limitMs: number;
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
  polled: Polled,
  {
    intervalMs = 1_000,
    maxIntervalMs = 15_000,
    signal,
    totalTimeoutMs = polled.send.totalTimeoutMs,
    ...options
  }: PollOptions,
  { isWanted, closing }: { readonly isWanted: IsWanted; readonly closing?: Deadline },
): AsyncGenerator<Session, never, undefined> {
  const { send, name, id } = polled;
  const progress: Progress = { limitMs: totalTimeoutMs };
  const endsAt = now() + totalTimeoutMs;
  for (let waitMs = 0; ; waitMs = Math.min(intervalMs, maxIntervalMs)) {
    const within = send.check(name, () => Deadline.of(endsAt - now(), signal, closing));
    const describe = () => ({ ...getSession(id, { ...options, totalTimeoutMs: Number.POSITIVE_INFINITY }), within });
    let session: Session | undefined;
    try {
      do {
        if (waitMs > 0) await within.sleep(shortened(waitMs, JITTER, Math.random()));
        waitMs = Math.min(waitMs > 0 ? waitMs * GROWTH : intervalMs, maxIntervalMs);
        session = await send(name, describe).catch((error: AutomationError) => missPoll(progress, error, within));
        if (session !== undefined)
          Object.assign(progress, { seen: session, missed: undefined, silentSince: undefined });
      } while (session === undefined || !(await within.race(Promise.resolve(isWanted(session)))));
    } catch (error) {
      throw error === STOPPED ? stoppedError(polled, progress, within) : error;
    } finally {
      within.release();
    }
    yield session;
  }
}

/** Notes a poll that failed. Throws what ends the wait: the end of its deadline, or a failure that does not pass. */
function missPoll(progress: Progress, failure: AutomationError, deadline: Deadline): undefined {
  if (deadline.reason !== undefined) {
    progress.missed ??= failure;
    throw STOPPED;
  }
  progress.missed = failure;
  const heardAt = failure.status === undefined ? progress.silentSince : now() + (failure.retryAfterMs ?? 0);
  progress.silentSince = heardAt ?? now();
  const isTooLong = progress.limitMs === Number.POSITIVE_INFINITY && now() - progress.silentSince >= LONGEST_OUTAGE_MS;
  if (mayPass(failure) && !isTooLong) return;
  note(failure, "session", progress.seen);
  throw failure;
}

function stoppedError({ send, name }: Polled, progress: Progress, { reason, signal }: Deadline): AutomationError {
  const { limitMs, seen: session, missed } = progress;
  const outcome = missed?.outcome ?? (session === undefined ? "not_sent" : "accepted");
  const details = { method: "GET", path: PATH, outcome, attempts: missed?.attempts, session };
  const state = session && `the last state was ${JSON.stringify(send.brief(String(session.state)) ?? "")}`; // of any type where validation is lenient
  const during = `during the wait; ${state ?? "no state was seen"}`;
  if (reason === "abort") {
    return new AbortError(`${name}: aborted by the caller ${during}`, { ...details, cause: signal.reason });
  }
  const cause = missed && { cause: missed };
  const message = `${name}: totalTimeoutMs (${limitMs}) ran out ${during}`;
  return new TimeoutError(message, { ...details, phase: "total", ...cause });
}
