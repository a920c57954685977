import type { Outcome } from "./errors/automation-error.ts";
import type { AnyAutomationError } from "./errors/classes.ts";

/** The fields of every event. No event holds headers, bodies or secrets. */
interface EventBase {
  /** Unique in the process, the same in all events of a call. */
  readonly callId: string;
  /** Such as `"issues.create"`; `"request"` and `"paginate"` for the escape hatch. */
  readonly operation: string;
  /** The attempt that the event is about, from 1. */
  readonly attempt: number;
  /** When, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Milliseconds of an attempt in each of its stages. Add up these durations over the `retry` events of a call that resolves and
 * its last `response`: the sum is the time of the call, without that of an asynchronous schema.
 */
export interface Durations {
  /** From the end of the attempt before: the backoff. */
  readonly waitMs: number;
  /** In the queue of the rate limiter, where a pause of the token is waited for. */
  readonly queueMs: number;
  /** Getting the token. */
  readonly tokenMs: number;
  /** From sending until the head of the response. */
  readonly headersMs: number;
  /** From the head of the response until the end of its body. */
  readonly bodyMs: number;
}

/** Milliseconds of an attempt in each stage before it was sent. */
export interface Waits extends Pick<Durations, "waitMs" | "queueMs" | "tokenMs"> {}

/** An attempt is about to be sent. */
export interface RequestEvent extends EventBase, Waits {
  readonly type: "request";
  /** The HTTP method. */
  readonly method: string;
  /** The path's template: that of the API documentation, or with `{}` for each value of a custom path. */
  readonly path: string;
}

/** A response was received, and its body was read as far as it was needed, or lost. */
export interface ResponseEvent extends EventBase, Durations {
  readonly type: "response";
  /** HTTP status of the response. */
  readonly status: number;
  /** `x-request-id`, where the response has it: the id by which the service's operators find the request. */
  readonly requestId?: string | undefined;
  /** Set if the body was needed and lost: the connection broke, the time was over, or your signal aborted. */
  readonly lost?: "connection" | "timeout" | "abort" | undefined;
  /** `RateLimit-Limit`, where the response has it. */
  readonly limit?: number | undefined;
  /** `RateLimit-Remaining`, where the response has it. */
  readonly remaining?: number | undefined;
}

/**
 * The call is sent again, `delayMs` from now; for `rate_limit` that is the rest of the pause. `attempt` and the
 * durations are those of the attempt that failed.
 */
export interface RetryEvent extends EventBase, Durations {
  readonly type: "retry";
  /** Why it is sent again. */
  readonly reason: RetryReason;
  /** The wait before the next attempt, in milliseconds. */
  readonly delayMs: number;
  /** HTTP status of the failed attempt, where there was a response. */
  readonly status?: number | undefined;
}

/** A user takes a wait of this length for a crash, so the logger warns of it. */
export const LONG_WAIT_MS = 5_000;

/** Why a call is sent again. */
export type RetryReason = "rate_limit" | "unavailable" | "server_error" | "connection" | "timeout" | "unauthorized";

/** The service asked for a pause: nothing is sent with this token until it is over. Once per pause and client. */
export interface RateLimitPauseEvent extends EventBase {
  readonly type: "rate_limit_pause";
  /** The length of the pause from now on, in milliseconds. */
  readonly delayMs: number;
}

/**
 * A pause is over: requests are sent again. Once per pause and client, with the ids of the call that told of the pause, which
 * may have ended before.
 */
export interface RateLimitResumeEvent extends EventBase {
  readonly type: "rate_limit_resume";
}

/**
 * A call has waited in its queue for five seconds or more: other calls are before it, calls leave at a distance, or pauses
 * follow one another. At most once a minute and client.
 */
export interface QueueWaitEvent extends EventBase {
  readonly type: "queue_wait";
  /** The time that it has waited by now, in milliseconds. */
  readonly queueMs: number;
}

/** After a 401, another token was available, and the call is sent again with it. */
export interface TokenRefreshEvent extends EventBase {
  readonly type: "token_refresh";
}

/** With `validation: "lenient"`: a response was returned although it is not of the expected shape. */
export interface DriftEvent extends EventBase {
  readonly type: "drift";
  /** The path of each unexpected value, and what was expected there. Never the values. */
  readonly issues: readonly { readonly path: readonly (string | number)[]; readonly message: string }[];
}

/** A page of an iteration was received. The service does not say how many pages there are. */
export interface PageEvent extends EventBase {
  readonly type: "page";
  /** Pages of this iteration so far, this one included. */
  readonly pages: number;
  /** Items on these pages. */
  readonly items: number;
  /** The time that the iteration waited so far, for the rate limit and between attempts, in milliseconds. */
  readonly waitedMs: number;
}

/** A poll of `waitFor` or `watch` has brought the session. */
export interface PollEvent extends EventBase {
  readonly type: "poll";
  /** The session's state, at most 200 characters. */
  readonly state: string;
  /** The time since the wait first saw this state, in milliseconds. */
  readonly unchangedMs: number;
  /**
   * `true` once for a state that has not changed for ten minutes, in a wait without `totalTimeoutMs`: the wait may never
   * end.
   */
  readonly stalled: boolean;
}

/** The call is over: it resolves, or rejects with an error of this `kind`. Once per call, and its last event, but for a resume. */
export interface EndEvent extends EventBase {
  readonly type: "end";
  /** `true` if it resolves. */
  readonly ok: boolean;
  /** The `kind` of its error. */
  readonly kind?: AnyAutomationError["kind"] | undefined;
  /** Its effect, as far as it is known: `"accepted"` of a call that resolves, else the error's `outcome`. */
  readonly outcome?: Outcome | undefined;
  /** HTTP status of the response that decided, where there was one. */
  readonly status?: number | undefined;
  /** Requests that were sent. */
  readonly attempts: number;
  /** From the beginning of the call, all its waits included, in milliseconds. */
  readonly durationMs: number;
}

/** Every event of a client; `type` tells them apart. */
export type ClientEvent =
  | RequestEvent
  | ResponseEvent
  | RetryEvent
  | RateLimitPauseEvent
  | RateLimitResumeEvent
  | QueueWaitEvent
  | TokenRefreshEvent
  | DriftEvent
  | PageEvent
  | PollEvent
  | EndEvent;

/** The fields of an event, without those that every event has. */
export type EventFields<Event extends ClientEvent> = Event extends ClientEvent ? Omit<Event, keyof EventBase> : never;

/** Called with each event. Nothing waits for it. What it throws changes no call; the log says it, once for a client. */
export type EventListener = (event: ClientEvent) => unknown;

/** The fields of a log line: `callId`, `operation`, `attempt`, `status`, `requestId`, durations in whole milliseconds. */
export type LogFields = Readonly<Record<string, string | number>>;

/**
 * `console`, winston and the like: called with one line of text, which begins with the id of its call, and a record of its
 * fields, both free of secrets.
 */
export interface Logger {
  /** Requests, responses, pages, polls. */
  debug(message: string, fields: LogFields): void;
  /** Waits, pauses, calls that failed. */
  info(message: string, fields: LogFields): void;
  /** Long waits, responses of an unexpected shape, functions of the application that failed. */
  warn(message: string, fields: LogFields): void;
  /** Writes that may have been applied, and writes whose response could not be used. */
  error(message: string, fields: LogFields): void;
}
