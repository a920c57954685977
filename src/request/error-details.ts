import type { AutomationError, ErrorDetails, Outcome } from "../errors/automation-error.ts";
import type { ResponseHead } from "./exchange.ts";
import { isWrite, type Operation } from "./operation.ts";
import type { Redactor } from "./redact.ts";

/** What errors need to know of a call, as it is now. */
export interface CallFacts {
  readonly operation: Operation<unknown>;
  /** The host and port of the service. */
  readonly host: string;
  /** Requests of this call that were sent. */
  readonly attempts: number;
  /** An earlier request of this call may have been applied. */
  readonly mayBeApplied: boolean;
  /** An earlier request of this call was rejected. */
  readonly wasRejected: boolean;
  /** The failure of the request before. */
  readonly lastError: AutomationError | undefined;
  /** Knows every secret of the call. */
  readonly redactor: Redactor;
}

/** How far the request that failed came. */
export interface Progress {
  readonly head?: ResponseHead | undefined;
  /** It was handed to `fetch`, and may have reached the service. */
  readonly isSent?: boolean | undefined;
  /** It is certain that no connection was made. */
  readonly isNeverSent?: boolean | undefined;
}

/** The longest text of a header that an error or event shows. */
const MAX_HEADER_LENGTH = 200;

/** An error of a class: what it says, and what is known of the call. `at`: how far the request came. */
export function buildError<Details extends ErrorDetails, Failure>(
  Class: new (message: string, details?: Details) => Failure,
  facts: CallFacts,
  said: NoInfer<Details> & { readonly what: string; readonly at: Progress },
): Failure {
  const { what, at, ...own } = said;
  const details = { ...detailsOf(facts, at), ...own };
  const message = `${labelOf(facts.operation)}: ${what}${consequenceOf(facts.operation, details.outcome)}`;
  return new Class(message, details as unknown as Details); // the class's own details, and those that every error has
}

/** The fields that every error of a call has. */
function detailsOf(facts: CallFacts, progress: Progress): ErrorDetails & { readonly outcome: Outcome } {
  const { operation, attempts, mayBeApplied, redactor } = facts;
  const { head } = progress;
  return {
    status: head === undefined || head.status === 0 ? undefined : head.status,
    method: operation.method,
    path: operation.path.template,
    attempts,
    requestId: headerText(redactor, head?.headers.get("x-request-id")),
    outcome: outcomeOf(facts, progress),
    priorAmbiguous: mayBeApplied && isWrite(operation) ? true : undefined,
  };
}

/** A header's value as it can be shown: free of secrets and control characters, at most 200 characters. */
export function headerText(redactor: Redactor, value: string | null | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = redactor.line(value, MAX_HEADER_LENGTH);
  return text === "" ? undefined : text;
}

/**
 * Whether the service did what was asked. A response tells, except where the service failed on the way; without one it
 * is certain only for a request that was never sent.
 */
function outcomeOf(facts: CallFacts, { head, isSent = false, isNeverSent = false }: Progress): Outcome {
  if (head !== undefined) return outcomeOfStatus(head.status);
  if (isSent || facts.mayBeApplied) return "unknown";
  return facts.wasRejected && !isNeverSent ? "rejected" : "not_sent";
}

function outcomeOfStatus(status: number): Outcome {
  if (status >= 200 && status < 300) return "accepted";
  return status === 408 || status >= 500 ? "unknown" : "rejected";
}

/** How messages name the call. */
function labelOf({ name, method, path }: Operation<unknown>): string {
  return name.includes(".") ? name : `${method} ${path.template}`;
}

/** What the failure of a write means for its caller; empty for reads, and where nothing can have happened. */
function consequenceOf(operation: Operation<unknown>, outcome: Outcome): string {
  if (!isWrite(operation) || outcome === "rejected" || outcome === "not_sent") return "";
  if (outcome === "accepted") return "; the service accepted it: do not send it again (see rawBody)";
  if (operation.rotatesToken) return "; the old token may be dead and its replacement lost: check before going on";
  return "; it may have been applied: check before sending it again";
}

/** A duration in a message. */
export function seconds(ms: number): string {
  return `${Math.ceil(ms / 100) / 10} s`;
}
