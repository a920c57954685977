import { oneLine } from "../base/redact.ts";
import { RateLimitError } from "../errors/api-errors.ts";
import type { ErrorDetails, Outcome, ValidationIssue } from "../errors/automation-error.ts";
import { ResponseParseError, ResponseValidationError, TokenProviderError } from "../errors/client-errors.ts";
import type { RateLimitSnapshot } from "../rate-limit/rate-limiter.ts";
import type { Call } from "./call.ts";
import { outcomeOfStatus, type Received } from "./exchange.ts";
import { isWrite, type Operation } from "./operation.ts";
import type { ResponseHead } from "./response-head.ts";

// Every error of a call is made here or in exchange-error.ts. No headers, request, response or token leaves with one, also
// where the service echoes it.

/** The longest text that names issues, in characters. */
const LONGEST_DESCRIPTION = 1_000;

/** What an error says, and how far the request that failed came. */
interface Said {
  readonly what: string;
  readonly head?: ResponseHead | undefined;
  /** It was handed to `fetch`, and may have reached the service. */
  readonly isSent?: boolean | undefined;
  /** It is certain that no connection was made. */
  readonly isNeverSent?: boolean | undefined;
}

/** An error of a class: what it says, what is known of the call, and the class's own fields. */
export function buildError<Details extends ErrorDetails, Failure>(
  Class: new (message: string, details?: Details) => Failure,
  call: Call,
  said: NoInfer<Details> & Said,
): Failure {
  const { what, head, isSent, isNeverSent, ...own } = said;
  const { id, operation, history } = call;
  const { name, method, path } = operation;
  const details = {
    callId: id,
    status: head === undefined || head.status === 0 ? undefined : head.status,
    method,
    path: path.template,
    attempts: history.requests,
    requestId: call.redactor.brief(head?.headers.get("x-request-id")),
    outcome: outcomeOf(call, said),
    priorAmbiguous: history.mayBeApplied && isWrite(operation) ? true : undefined,
    ...own,
  };
  const label = name.includes(".") ? name : `${method} ${path.template}`;
  const message = `${label}: ${what}${consequenceOf(operation, details)}`;
  return new Class(message, details as unknown as Details); // the class's own details, and those that every error has
}

/**
 * Whether the service did what was asked. A response tells, except where the service failed on the way; without one it
 * is certain only for a request that was never sent.
 */
function outcomeOf({ history }: Call, { head, isSent = false, isNeverSent = false }: Said): Outcome {
  if (head !== undefined) return outcomeOfStatus(head.status);
  if (isSent || history.mayBeApplied) return "unknown";
  return history.wasRejected && !isNeverSent ? "rejected" : "not_sent";
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

/** The failure of the request before, as the cause of what ended the call after it. */
export function causedBefore({ history }: Call): { readonly cause?: unknown } {
  return history.lastFailure === undefined ? {} : { cause: history.lastFailure() };
}

/** The call was not sent, because the token's pause is longer than the call waits for. */
export function pausedError(
  call: Call,
  pauseMs: number,
  known: Pick<RateLimitSnapshot, "limit" | "remaining"> | undefined,
): RateLimitError {
  return buildError(RateLimitError, call, {
    what: `not sent: the rate limit pauses this token for another ${seconds(pauseMs)}`,
    status: 429,
    retryAfterMs: Math.ceil(pauseMs),
    limit: known?.limit,
    remaining: known?.remaining,
    ...causedBefore(call),
  });
}

/** The token source failed: `cause` is what it rejected with, `problem` says it in words. */
export function tokenError(call: Call, problem: string, cause?: unknown): TokenProviderError {
  const kept = cause === undefined ? {} : { cause: call.redactor.cause(cause) };
  return buildError(TokenProviderError, call, { what: problem, ...kept });
}

/** A success whose body cannot be parsed: not JSON, empty, too large. `what` names it. */
export function parseError(call: Call, { head, text }: Omit<Received, "kind">, what: string): ResponseParseError {
  const type = call.redactor.brief(head.headers.get("content-type")?.split(";")[0]);
  const shownType = type === undefined ? "" : `, ${type}`;
  return buildError(ResponseParseError, call, { what: `${head.status} with ${what}${shownType}`, head, rawBody: text });
}

/** A success of another shape than expected: what its schema found, or threw, free of secrets. */
export function validationError(
  call: Call,
  { head, text }: Received,
  why: { readonly issues: readonly ValidationIssue[] } | { readonly cause: unknown },
): ResponseValidationError {
  const reason = "issues" in why ? describeIssues(why.issues) : "the schema threw";
  const what = `${head.status}, but the response is not of the expected shape: ${reason}`;
  return buildError(ResponseValidationError, call, { what, head, rawBody: text, ...why });
}

/** How many issues a message names. */
const ISSUES_NAMED = 5;

/** The first issues in one line: `data.0.id: expected string; …`. */
function describeIssues(issues: readonly ValidationIssue[]): string {
  if (issues.length === 0) return "the schema does not say why";
  const named = issues
    .slice(0, ISSUES_NAMED)
    .map(({ path, message }) => `${path.length > 0 ? path.join(".") : "body"}: ${message}`);
  return oneLine([...named, ...(issues.length > ISSUES_NAMED ? ["…"] : [])].join("; "), LONGEST_DESCRIPTION);
}

/** A duration in a message. */
export function seconds(ms: number): string {
  return `${Math.ceil(ms / 100) / 10} s`;
}
