import {
  AutomationError,
  type DetailsOf,
  isBrandedError,
  type TimeoutPhase,
  type ValidationIssue,
} from "./automation-error.ts";
import type { BulkError } from "./bulk-error.ts";
import type { JournalError } from "./journal-error.ts";
import type { SendError } from "./send-error.ts";

/** An invalid option of a client, of `rotatingToken` or of `redisRateLimiter`, or an invalid token. Nothing was sent. */
export class ConfigError extends AutomationError {
  static override readonly kinds: readonly ["config"] = ["config"];
  declare readonly kind: "config";
}

/** An invalid argument of a call. Nothing was sent for it; `outcome` tells of a write that was sent before. */
export class ArgumentError extends AutomationError {
  static override readonly kinds: readonly ["argument"] = ["argument"];
  declare readonly kind: "argument";
}

/**
 * The response is a 3xx. Redirects are never followed, since the token would travel with them. Also the response of another
 * address, where a `fetch` of the application has followed one: it has no `status` then.
 */
export class RedirectError extends AutomationError {
  static override readonly kinds: readonly ["redirect"] = ["redirect"];
  declare readonly kind: "redirect";
  /** Origin and path that the response leads to, without query, user name and password; absent if it does not say. */
  declare readonly location?: string | undefined;

  constructor(message: string, details?: DetailsOf<RedirectError, "location">) {
    super(message, details);
  }
}

/** No whole response was received. `outcome` of a write is `not_sent` only where the platform showed that its request never left. */
export class ConnectionError extends AutomationError {
  static override readonly kinds: readonly ["connection"] = ["connection"];
  declare readonly kind: "connection";
  /** The platform's own code, such as `ECONNRESET`, where there is one. */
  declare readonly platformCode?: string | undefined;
  /** `true` if sending the request again cannot help: an invalid certificate, or a request that `fetch` refuses. */
  declare readonly permanent?: true | undefined;

  constructor(message: string, details?: DetailsOf<ConnectionError, "platformCode" | "permanent">) {
    super(message, details);
  }
}

/** A time limit ended the call: `timeoutMs` within an attempt, or `totalTimeoutMs` in any stage. */
export class TimeoutError extends AutomationError {
  static override readonly kinds: readonly ["timeout"] = ["timeout"];
  declare readonly kind: "timeout";
  /** The stage in which the time ran out; `total` is between attempts. */
  declare readonly phase: TimeoutPhase;

  constructor(message: string, details?: DetailsOf<TimeoutError, "phase">) {
    super(message, details);
  }
}

/** Your signal or your `onRequest` ended the call. `cause` is the signal's reason, or what `onRequest` threw. */
export class AbortError extends AutomationError {
  static override readonly kinds: readonly ["abort"] = ["abort"];
  declare readonly kind: "abort";
}

/**
 * A 2xx response whose body is not JSON, is empty where one is due, or is larger than `maxResponseBytes`. `rawBody` holds
 * what was received of it. A body that does not even begin as JSON is probably not the service's: the `outcome` of a write is
 * `unknown` then.
 */
export class ResponseParseError extends AutomationError {
  static override readonly kinds: readonly ["parse"] = ["parse"];
  declare readonly kind: "parse";
}

/** A 2xx response of another shape than the API documentation's, or than your schema. `rawBody` holds the text. */
export class ResponseValidationError extends AutomationError {
  static override readonly kinds: readonly ["validation"] = ["validation"];
  declare readonly kind: "validation";
  /** The unexpected values: where, and what was expected there; never the values themselves. */
  declare readonly issues: readonly ValidationIssue[];

  constructor(message: string, details: DetailsOf<ResponseValidationError, "issues"> = {}) {
    super(message, { issues: [], ...details });
  }
}

/** An iteration that would not end: a cursor came again, or 1,000 empty pages in a row. All items so far were delivered. */
export class PaginationError extends AutomationError {
  static override readonly kinds: readonly ["pagination"] = ["pagination"];
  declare readonly kind: "pagination";
}

/** The token provider threw, or returned no usable token. `cause` is a copy of what it threw, without secrets. */
export class TokenProviderError extends AutomationError {
  static override readonly kinds: readonly ["token_provider"] = ["token_provider"];
  declare readonly kind: "token_provider";
}

/** Shape of the refusals by status: `ApiError` and the seven that extend it. */
export type ApiErrorKind =
  | "api"
  | "bad_request"
  | "auth"
  | "permission"
  | "not_found"
  | "conflict"
  | "rate_limit"
  | "server";

/** The service refused the call by its status. Base of the seven classes below; itself for any other status. */
export class ApiError extends AutomationError {
  static override readonly kinds: readonly ApiErrorKind[] = [
    "api",
    "bad_request",
    "auth",
    "permission",
    "not_found",
    "conflict",
    "rate_limit",
    "server",
  ];
  declare readonly kind: ApiErrorKind;
  declare readonly status: number;
}

/** 400 or 422: the service does not accept what was sent. */
export class BadRequestError extends ApiError {
  static override readonly kinds: readonly ["bad_request"] = ["bad_request"];
  declare readonly kind: "bad_request";
}

/** 401: the token is unknown, revoked or expired, and there was no other one to send. */
export class AuthenticationError extends ApiError {
  static override readonly kinds: readonly ["auth"] = ["auth"];
  declare readonly kind: "auth";
}

/** 403: the token's scopes or its owner's own permissions do not allow the call. The message names the scope to look for. */
export class PermissionDeniedError extends ApiError {
  static override readonly kinds: readonly ["permission"] = ["permission"];
  declare readonly kind: "permission";
}

/** 404: no such resource, or none that the token may see. */
export class NotFoundError extends ApiError {
  static override readonly kinds: readonly ["not_found"] = ["not_found"];
  declare readonly kind: "not_found";
}

/** 409: the call conflicts with the present state. */
export class ConflictError extends ApiError {
  static override readonly kinds: readonly ["conflict"] = ["conflict"];
  declare readonly kind: "conflict";
}

/**
 * 429, once waiting is over or not allowed (RFC 6585, API documentation section 8). `retryAfterMs` is how long the service asks to
 * wait before the next request with this token. Also for a call that was not sent because of such a pause: `outcome` is
 * then `"not_sent"`, and `status` is 429, that of the response that began the pause.
 */
export class RateLimitError extends ApiError {
  static override readonly kinds: readonly ["rate_limit"] = ["rate_limit"];
  declare readonly kind: "rate_limit";
  /** `RateLimit-Limit`: requests per minute. */
  declare readonly limit?: number | undefined;
  /** `RateLimit-Remaining`: requests left in the window. */
  declare readonly remaining?: number | undefined;

  constructor(message: string, details?: DetailsOf<RateLimitError, "limit" | "remaining">) {
    super(message, details);
  }
}

/** 5xx: the service failed. `retryAfterMs` is set if it asked for a wait. */
export class ServerError extends ApiError {
  static override readonly kinds: readonly ["server"] = ["server"];
  declare readonly kind: "server";
}

const BY_STATUS: Readonly<Record<number, typeof AutomationError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: BadRequestError,
  429: RateLimitError,
};

export function refusalClass(status: number): typeof AutomationError {
  if (status < 400) return RedirectError;
  return BY_STATUS[status] ?? (status >= 500 ? ServerError : ApiError);
}

export function timeoutPlace(phase: TimeoutPhase, attempts: number): string {
  const places: Readonly<Record<TimeoutPhase, string>> = {
    queue: attempts > 0 ? "before it was sent again" : "before the request was sent",
    token: "while getting the token",
    headers: "while waiting for the response",
    body: "while reading the response",
    total: "between attempts",
  };
  return places[phase];
}

/** Every class of error with its own literal `kind`, so that a `switch` on `kind` narrows and can be exhaustive. */
export type AnyAutomationError =
  | ConfigError
  | ArgumentError
  | (ApiError & { readonly kind: "api" })
  | BadRequestError
  | AuthenticationError
  | PermissionDeniedError
  | NotFoundError
  | ConflictError
  | RateLimitError
  | ServerError
  | RedirectError
  | ConnectionError
  | TimeoutError
  | AbortError
  | ResponseParseError
  | ResponseValidationError
  | PaginationError
  | TokenProviderError
  | JournalError
  | BulkError
  | SendError;

/**
 * `true` if `value` is an error of this library: of its ESM or CommonJS copy, of this realm or another. Never throws.
 *
 * @example
 * try {
 *   await client.issues.create("web", { title: "It broke", type: "bug" });
 * } catch (error) {
 *   if (!isAutomationError(error)) throw error;
 *   if (error.kind === "rate_limit") console.log(`again in ${error.retryAfterMs} ms`);
 * }
 */
export function isAutomationError(value: unknown): value is AnyAutomationError {
  return isBrandedError(value);
}
