import { isAutomationError } from "./guard.ts";

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
  switch (error.kind) {
    case "rate_limit":
    case "timeout":
      return true;
    case "connection":
      return error.permanent !== true;
    case "server":
    case "api":
      return error.status !== undefined && statusMayPass(error.status);
    default:
      return false;
  }
}
