import { type AutomationError, isBrandedError } from "../errors/automation-error.ts";
import { ArgumentError } from "../errors/client-errors.ts";
import type { BulkState } from "./journal.ts";

/** How a call of `send` ended. */
export type SendEnd<Result> = { readonly result: Result } | { readonly error: unknown };

/** What was seen of the requests of a call of `send`. */
export interface RequestTrace {
  /** `onRequest` was called. */
  readonly announced: boolean;
  /** A request was allowed to leave, after its record. */
  readonly recorded: boolean;
  /** `onRequest` was called by a second call of the client. */
  readonly secondCall: boolean;
}

/** What a call of `send` came to. */
export interface SendState {
  readonly state: BulkState;
  /** Why the item is not `done`, or why its result could not be read. */
  readonly error?: AutomationError;
  /** `"stop"`: every other item would fail as well. `"fail"`: `send` cannot be worked with. */
  readonly consequence?: "stop" | "fail";
}

/** Refusals of an item. Other refusals are about the token, its rate or the address, and say nothing about the item. */
const ITEM_REFUSALS: ReadonlySet<string> = new Set(["api", "bad_request", "not_found", "conflict"]);

/** Failures that every other item would meet as well. */
const COMMON_FAILURES: ReadonlySet<string> = new Set(["auth", "permission", "redirect", "token_provider"]);

const PASS_OPTIONS_ON =
  "send must pass its options on to the client's method, such as client.issues.create(project, input, options): ";

/** Decides in which state an item is after its `send`. What is not certain is `unknown`. */
export function stateAfterSend(end: SendEnd<unknown>, trace: RequestTrace): SendState {
  if (trace.secondCall) {
    return misuse("send made a second call with its options; one item is one write, so the second was not sent", end);
  }
  if ("result" in end) {
    if (trace.recorded) return { state: "done" };
    return misuse(`${PASS_OPTIONS_ON}it resolved without a recorded request`, end);
  }
  const { error } = end;
  if (!isBrandedError(error) || error.outcome === undefined) {
    return misuse("send failed with something that does not tell whether the item was written", end);
  }
  if (!trace.announced && (error.outcome !== "not_sent" || (error.attempts ?? 0) > 0)) {
    return misuse(`${PASS_OPTIONS_ON}it failed after a request without a record`, end);
  }
  const state = stateOfError(error);
  return isCommonFailure(error) ? { state, error, consequence: "stop" } : { state, error };
}

/** Whether every other item would fail in the same way. */
export function isCommonFailure(error: AutomationError): boolean {
  return COMMON_FAILURES.has(error.kind);
}

function stateOfError(error: AutomationError): BulkState {
  if (error.outcome === "accepted") return "done";
  if (error.outcome === "unknown" || error.priorAmbiguous === true) return "unknown";
  return error.outcome === "rejected" && ITEM_REFUSALS.has(error.kind) ? "refused" : "not_sent";
}

function misuse(message: string, end: SendEnd<unknown>): SendState {
  const cause = "error" in end ? { cause: end.error } : {};
  const said = "error" in end && end.error instanceof Error ? `: ${end.error.message}` : "";
  const error = new ArgumentError(`${message}${said}`, { outcome: "unknown", ...cause });
  return { state: "unknown", error, consequence: "fail" };
}
