/** What every event tells. No event holds headers, bodies or secrets. */
interface EventBase {
  /** Tells the calls of one client apart. */
  readonly callId: string;
  /** Such as `"issues.create"`; `"request"` and `"paginate"` for the escape hatch. */
  readonly operation: string;
  /** The attempt it is about, from 1. */
  readonly attempt: number;
  /** When, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * How long an attempt was in each stage, in milliseconds. Those of every `retry` of a call and of its last `response`
 * add up to the time of the call.
 */
export interface Durations {
  /** From the end of the attempt before: the backoff. */
  readonly waitMs: number;
  /** In the queue of the rate limiter; a pause of the token is waited out there. */
  readonly queueMs: number;
  /** Getting the token. */
  readonly tokenMs: number;
  /** From sending until the head of the answer. */
  readonly headersMs: number;
  /** From the head of the answer until the end of its body. */
  readonly bodyMs: number;
}

/** How long an attempt was in each stage before it was sent, in milliseconds. */
export interface Waits extends Pick<Durations, "waitMs" | "queueMs" | "tokenMs"> {}

/** An attempt is about to be sent. */
export interface RequestEvent extends EventBase, Waits {
  readonly type: "request";
  /** The HTTP method. */
  readonly method: string;
  /** The path's template, with `{}` for each value. */
  readonly path: string;
}

/** An attempt was answered and its body read, as far as it was needed. */
export interface ResponseEvent extends EventBase, Durations {
  readonly type: "response";
  /** HTTP status of the answer. */
  readonly status: number;
  /** `RateLimit-Limit` and `RateLimit-Remaining`, where the answer has them. */
  readonly limit?: number | undefined;
  /** `RateLimit-Remaining`, as above. */
  readonly remaining?: number | undefined;
}

/**
 * The call is sent again, `delayMs` from now; for `rate_limit` that is what is left of the pause. `attempt` and the
 * durations are those of the attempt that failed.
 */
export interface RetryEvent extends EventBase, Durations {
  readonly type: "retry";
  /** Why it is sent again. */
  readonly reason: RetryReason;
  /** How long until it is, in milliseconds. */
  readonly delayMs: number;
  /** HTTP status of the failed attempt, where it was answered. */
  readonly status?: number | undefined;
}

/** Why a call is sent again. */
export type RetryReason = "rate_limit" | "unavailable" | "server_error" | "connection" | "timeout" | "unauthorized";

/** The service asked for a pause; nothing is sent with this token until it is over. Once per pause and client. */
export interface RateLimitPauseEvent extends EventBase {
  readonly type: "rate_limit_pause";
  /** How long the pause lasts from now, in milliseconds. */
  readonly delayMs: number;
}

/** A pause is over: requests are sent again. Once per pause and client. */
export interface RateLimitResumeEvent extends EventBase {
  readonly type: "rate_limit_resume";
}

/** After a 401, another token was had and the call is sent again with it. */
export interface TokenRefreshEvent extends EventBase {
  readonly type: "token_refresh";
}

/** With `validation: "lenient"`: an answer was handed over although it is not of the expected shape. */
export interface DriftEvent extends EventBase {
  readonly type: "drift";
  /** What is not as expected: where, and what was expected there. Never the values. */
  readonly issues: readonly { readonly path: readonly (string | number)[]; readonly message: string }[];
}

/** The answer had a `Deprecation` (RFC 9745) or `Sunset` (RFC 8594) header. Once per operation and client. */
export interface DeprecationEvent extends EventBase {
  readonly type: "deprecation";
  /** The header `Deprecation`, as it came. */
  readonly deprecation?: string | undefined;
  /** The header `Sunset`, as it came: when it is to be removed. */
  readonly sunset?: string | undefined;
}

/** A page of a walk has come. How many there will be, the service does not say. */
export interface PageEvent extends EventBase {
  readonly type: "page";
  /** Pages of this walk so far, this one included. */
  readonly pages: number;
  /** Items on them. */
  readonly items: number;
  /** How long the walk has waited so far, for the rate limit and between attempts. */
  readonly waitedMs: number;
}

/** What `onEvent` sees; `type` tells the events apart. */
export type ClientEvent =
  | RequestEvent
  | ResponseEvent
  | RetryEvent
  | RateLimitPauseEvent
  | RateLimitResumeEvent
  | TokenRefreshEvent
  | DriftEvent
  | DeprecationEvent
  | PageEvent;

/** Takes what happens. What it throws or rejects with is ignored, and nothing waits for it. */
export type EventListener = (event: ClientEvent) => unknown;

/** The fields of a log line, free of secrets: `callId`, `operation`, `attempt`, `status`, durations in milliseconds. */
export type LogFields = Readonly<Record<string, string | number>>;

/** `console`, winston and the like: called with one line of text and a record of its fields, both free of secrets. */
export interface Logger {
  /** Requests, responses, pages. */
  debug(message: string, fields: LogFields): void;
  /** Waits, pauses, calls that failed. */
  info(message: string, fields: LogFields): void;
  /** Deprecations, and responses of an unexpected shape. */
  warn(message: string, fields: LogFields): void;
  /** Writes that may have been applied, and writes whose response could not be used. */
  error(message: string, fields: LogFields): void;
}
