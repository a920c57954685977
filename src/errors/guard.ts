import { isBrandedError } from "./automation-error.ts";
import type * as classes from "./classes.ts";
import type { JournalError } from "./journal-error.ts";

/** Every class of error with its own literal `kind`, so that a `switch` on `kind` narrows and can be exhaustive. */
export type AnyAutomationError =
  | classes.ConfigError
  | classes.ArgumentError
  | (classes.ApiError & { readonly kind: "api" })
  | classes.BadRequestError
  | classes.AuthenticationError
  | classes.PermissionDeniedError
  | classes.NotFoundError
  | classes.ConflictError
  | classes.RateLimitError
  | classes.ServerError
  | classes.RedirectError
  | classes.ConnectionError
  | classes.TimeoutError
  | classes.AbortError
  | classes.ResponseParseError
  | classes.ResponseValidationError
  | classes.PaginationError
  | classes.TokenProviderError
  | JournalError;

/**
 * Whether `value` is an error of this library: of its ESM or CommonJS copy, of this realm or another. Never throws.
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

/** Whether a request that was answered with this status may succeed later (reliability guide, the table of retries). */
export function statusMayPass(status: number): boolean {
  return status === 408 || status === 500 || (status >= 502 && status <= 504) || (status >= 520 && status <= 529);
}

/**
 * Whether the reason of an error may pass: a lost or refused connection, a timeout, a 5xx or 408 that is retried, a rate
 * limit. Other failures do not pass: a decision of the service, a request that cannot be sent, a response of another shape.
 */
export function mayPass(error: unknown): boolean {
  if (!isAutomationError(error)) return false;
  if (error.kind === "connection") return error.permanent !== true;
  return error.kind === "timeout" || error.kind === "rate_limit" || statusMayPass(error.status ?? 0);
}
