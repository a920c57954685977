import { AutomationError, type DetailsOf } from "./automation-error.ts";

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
 * 429, once waiting is over or not allowed (RFC 6585, contract section 8). `retryAfterMs` is how long the service asks to
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

  constructor(message: string, details: DetailsOf<RateLimitError, "limit" | "remaining"> = {}) {
    super(message, details);
  }
}

/** 5xx: the service failed. `retryAfterMs` is set if a 503 asked for a wait. */
export class ServerError extends ApiError {
  static override readonly kinds: readonly ["server"] = ["server"];
  declare readonly kind: "server";
}
