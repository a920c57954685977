import { type AnyAutomationError, isAutomationError } from "project-automation";

/** What the page is doing. `cursor` is where the next run goes on; `undefined`: from the beginning. */
export type State =
  | { readonly name: "idle" | "running" | "done" }
  | { readonly name: "paused"; readonly from: number; readonly until: number }
  | { readonly name: "stopped"; readonly cursor: string | undefined }
  | { readonly name: "error"; readonly cursor: string | undefined; readonly message: string };

/**
 * A walk that broke off. Its error knows the cursor of the page that failed: from there the rest comes, and only that.
 * `start` is where this run began, for errors from before its first request.
 */
export function stateAfter(error: unknown, start: string | undefined): State {
  if (!isAutomationError(error)) return { name: "error", cursor: start, message: String(error) };
  const cursor = error.cursor === undefined ? start : (error.cursor ?? undefined);
  if (error.kind === "abort") return { name: "stopped", cursor };
  return { name: "error", cursor, message: explain(error) };
}

function explain(error: AnyAutomationError): string {
  switch (error.kind) {
    case "config":
      return `These settings cannot be: ${error.message}.`;
    case "auth":
      return "The service does not take this token. Check it, and try again.";
    case "permission":
      return "This token may not list projects: it needs the scope projects:read.";
    case "rate_limit":
      return `The service asks for a longer pause than is worth waiting for: ${Math.ceil((error.retryAfterMs ?? 0) / 1_000)} s.`;
    case "connection":
      return "No answer. Is the service there, and does it allow this page (CORS)?";
    default:
      return `${error.message}.`;
  }
}
