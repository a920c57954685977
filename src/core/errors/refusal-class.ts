import type { AutomationError } from "./automation-error.ts";
import * as errors from "./classes.ts";

const BY_STATUS: Readonly<Record<number, typeof AutomationError>> = {
  400: errors.BadRequestError,
  401: errors.AuthenticationError,
  403: errors.PermissionDeniedError,
  404: errors.NotFoundError,
  409: errors.ConflictError,
  422: errors.BadRequestError,
  429: errors.RateLimitError,
};

/** The class of a refusal, by its status alone (API documentation, section 7). */
export function refusalClass(status: number): typeof AutomationError {
  if (status < 400) return errors.RedirectError;
  return BY_STATUS[status] ?? (status >= 500 ? errors.ServerError : errors.ApiError);
}
