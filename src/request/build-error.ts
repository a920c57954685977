import type { ErrorDetails, Outcome } from "../errors/automation-error.ts";
import type { Call } from "./call.ts";
import { outcomeOfStatus } from "./exchange.ts";
import { isWrite, labelOf, type Operation } from "./operation.ts";
import type { ResponseHead } from "./response-head.ts";

// Every error of a call is built here. No headers, request, response or token leaves with one, also where the service
// echoes it.

/** What an error says, and how far the request that failed came. */
interface Said {
  readonly what: string;
  readonly head?: ResponseHead | undefined;
  /** Whether it may have reached the service; `undefined` if there was no request. */
  readonly isSent?: boolean | undefined;
}

/** An error of a class: what it says, what is known of the call, and the class's own fields. */
export function buildError<Details extends ErrorDetails, Failure>(
  Class: new (message: string, details?: Details) => Failure,
  call: Call,
  said: NoInfer<Details> & Said,
): Failure {
  const { what, head, isSent, ...own } = said;
  const { id, operation, history } = call;
  const { method, path } = operation;
  const details = {
    callId: id,
    status: head?.status || undefined,
    method,
    path: path.template,
    attempts: history.requests,
    requestId: head && requestIdOf(call, head),
    outcome: outcomeOf(call, said),
    priorAmbiguous: (history.mayBeApplied && isWrite(operation)) || undefined,
    ...own,
  };
  const message = `${labelOf(operation)}: ${what}${consequenceOf(operation, details)}`;
  return new Class(message, details as unknown as Details); // the class's own details, and those that every error has
}

/**
 * Whether the service did what was asked. A response tells, except where the service failed on the way; without one it
 * is certain only for a request that was never sent.
 */
function outcomeOf({ history }: Call, { head, isSent }: Said): Outcome {
  if (head !== undefined) return outcomeOfStatus(head.status);
  if (isSent || history.mayBeApplied) return "unknown";
  return history.wasRejected && isSent === undefined ? "rejected" : "not_sent";
}

/** What the failure of a write means for its caller; empty for reads, and where nothing can have happened. */
function consequenceOf(operation: Operation<unknown>, { outcome, rawBody }: ErrorDetails): string {
  if (!isWrite(operation) || outcome === "rejected" || outcome === "not_sent") return "";
  if (outcome === "accepted") {
    return `; the service accepted it: do not send it again${rawBody === undefined ? "" : " (see rawBody)"}`;
  }
  if (operation.rotatesToken) return "; the old token may be dead and its replacement lost: check before going on";
  return "; it may have been applied: check before sending it again";
}

/** The id that the service has of a request. */
export function requestIdOf({ redactor }: Call, { headers }: ResponseHead): string | undefined {
  return redactor.brief(headers.get("x-request-id"));
}
