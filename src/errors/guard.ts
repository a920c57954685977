import type {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
} from "./api-errors.ts";
import { isBrandedError } from "./automation-error.ts";
import type {
  AbortError,
  ArgumentError,
  ConfigError,
  ConnectionError,
  PaginationError,
  RedirectError,
  ResponseParseError,
  ResponseValidationError,
  TimeoutError,
  TokenProviderError,
} from "./client-errors.ts";

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
  | TokenProviderError;

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
