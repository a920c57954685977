import type { CallOptions } from "../core/call/call-options.ts";
import type { Send } from "../core/call/send.ts";
import { type ParsedCallOptions, parseCallOptions } from "../core/call/settings.ts";
import { INTERVAL, type Parsed, type Range, rangeOf, refuseReversed, type Shape } from "../core/checks/validators.ts";
import { deferErrors } from "../core/list.ts";
import type { Deadline } from "../core/time/deadline.ts";
import type { Session } from "./models.ts";
import { type PollOptions, SessionPolls, stateOf } from "./session-poll.ts";
import { UNTIL } from "./until.ts";

/** The options of `sessions.watch`. `totalTimeoutMs` is for the whole watch, the other timeouts are for each poll. */
export interface WatchOptions extends CallOptions {
  /**
   * The first wait between two polls, in milliseconds. Above 15 s it raises the default of `maxIntervalMs`. Each wait is
   * shorter by a random part of up to a quarter.
   *
   * @default 1_000
   */
  intervalMs?: number | undefined;
  /**
   * The longest wait between two polls, in milliseconds. It must not be below `intervalMs`.
   *
   * @default 15_000
   */
  maxIntervalMs?: number | undefined;
}

/** The options of `sessions.waitFor`. `totalTimeoutMs` is for the whole wait, the other timeouts are for each poll. */
export interface WaitOptions extends WatchOptions {
  /**
   * Ends the wait once it returns `true`. It may be asynchronous.
   *
   * The call rejects with what it throws, as it is, and with an `ArgumentError` if it returns no boolean.
   */
  until: (session: Session) => boolean | Promise<boolean>;
}

const WATCH_OPTIONS = {
  intervalMs: INTERVAL,
  maxIntervalMs: INTERVAL,
} satisfies Shape<Omit<WatchOptions, keyof CallOptions>>;
const WAIT_OPTIONS = {
  ...WATCH_OPTIONS,
  until: UNTIL,
} satisfies Shape<Omit<WaitOptions, keyof CallOptions>>;

const INTERVALS: Range = [1_000, 15_000];

function withIntervals({ intervalMs, maxIntervalMs, ...options }: ParsedWatchOptions): PollOptions {
  refuseReversed([intervalMs, maxIntervalMs], ["options.intervalMs", "options.maxIntervalMs"]);
  return { ...options, intervals: rangeOf([intervalMs, maxIntervalMs], INTERVALS) };
}

type ParsedWatchOptions = ParsedCallOptions & Parsed<typeof WATCH_OPTIONS>;

/** Polls a session until `until` is true of it. */
export function waitFor(send: Send, id: string, given: WaitOptions): Promise<Session> {
  const name = "sessions.waitFor";
  const { fetch } = globalThis;
  return (async () => {
    const { until, ...options } = send.parse(name, () => {
      const { until, ...others } = parseCallOptions(given, WAIT_OPTIONS);
      return { until, ...withIntervals(others) };
    });
    return await new SessionPolls(send, { name, id, isWanted: until, fetch }, options).next();
  })();
}

/** Polls a session until `closing` ends, and yields it whenever its state has changed: the changes, from each call. */
export function watch(
  send: Send,
  id: string,
  options: WatchOptions | undefined,
): (closing: Deadline) => AsyncGenerator<Session, void, undefined> {
  const name = "sessions.watch";
  const { fetch } = globalThis;
  const read = deferErrors(() => send.parse(name, () => withIntervals(parseCallOptions(options, WATCH_OPTIONS))));
  return async function* changes(closing) {
    // The states and not the sessions are compared: the consumer may change a session that it was handed.
    let latest: readonly unknown[] = [];
    const isWanted = (seen: Session): boolean => {
      const state = stateOf(seen);
      const isNew = !latest.includes(state);
      latest = [state];
      return isNew;
    };
    const polls = new SessionPolls(send, { name, id, isWanted, closing, fetch }, await read());
    for (;;) yield await polls.next();
  };
}
