import type * as api from "./api-errors.ts";
import { isBrandedError } from "./automation-error.ts";
import type * as client from "./client-errors.ts";
import type { JournalError } from "./journal-error.ts";

/** Every class of error with its own literal `kind`, so that a `switch` on `kind` narrows and can be exhaustive. */
export type AnyAutomationError =
  | client.ConfigError
  | client.ArgumentError
  | (api.ApiError & { readonly kind: "api" })
  | api.BadRequestError
  | api.AuthenticationError
  | api.PermissionDeniedError
  | api.NotFoundError
  | api.ConflictError
  | api.RateLimitError
  | api.ServerError
  | client.RedirectError
  | client.ConnectionError
  | client.TimeoutError
  | client.AbortError
  | client.ResponseParseError
  | client.ResponseValidationError
  | client.PaginationError
  | client.TokenProviderError
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
