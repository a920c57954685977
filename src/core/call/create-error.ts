import { cut } from "../checks/values.ts";
import type { AutomationError, ErrorDetails, TimeoutPhase, ValidationIssue } from "../errors/automation-error.ts";
import * as errors from "../errors/classes.ts";
import { type ConnectionFault, proxyHint } from "../errors/connection-fault.ts";
import { explain } from "../errors/explanation.ts";
import type { RateLimitSnapshot } from "../rate-limit/rate-limiter.ts";
import { oneLine } from "../secrets/redact.ts";
import type { Deadline } from "../time/deadline.ts";
import { TokenUnavailable } from "../token/token-source.ts";
import { isSuccess, type ResponseHead } from "../wire/head.ts";
import { isWrite } from "../wire/method.ts";
import type { Call, Received } from "./call.ts";
import { mayRepeat } from "./decide-retry.ts";
import { type Operation, rotatesToken } from "./operation.ts";
import { outcomeOf, outcomeOfAnswer } from "./outcome.ts";
import { adviceOn, DOCTOR, FOREIGN, MAX_DETAIL, redirectTarget, seconds, serviceWords, shownCode } from "./refusal.ts";
import { OWN_VENDOR } from "./standard-schema.ts";

/** Of a refusal that is not JSON, mostly the page of a proxy, so many characters are kept. */
const MAX_FOREIGN_TEXT = 2_000;
const MAX_ISSUES_TEXT = 400;

// Every error of a call is built here. None holds headers, a request, a response or a token, not even a token that the
// service echoes.

export function pausedError(
  call: Call,
  pauseMs: number,
  known: Pick<RateLimitSnapshot, "limit" | "remaining"> | undefined,
): errors.RateLimitError {
  const again = call.requests === 0 ? "" : " again";
  return buildError(errors.RateLimitError, call, {
    summary: `not sent${again}: the rate limit pauses this token for another ${seconds(pauseMs)}`,
    status: 429,
    retryAfterMs: Math.ceil(pauseMs),
    limit: known?.limit,
    remaining: known?.remaining,
    cause: call.lastFailure,
  });
}

/** The error of a call from whatever ended it: the failure of a part, or of a function of the application. */
export function callError(call: Call, thrown: unknown): errors.AnyAutomationError {
  if (errors.isAutomationError(thrown)) return thrown;
  if (thrown instanceof TokenUnavailable) {
    return buildError(errors.TokenProviderError, call, { summary: thrown.message, thrown: thrown.cause });
  }
  return buildError(errors.ConnectionError, call, { summary: "failed", thrown, permanent: true });
}

/** A success whose body cannot be parsed: not JSON, empty, too large. `body` names it. */
export function parseError(call: Call, received: Received, body: string): errors.ResponseParseError {
  const { status, headers } = received.head;
  const type = mediaType(call, headers);
  const doctor = received.isFromService ? doctorFor(call.operation) : "";
  const summary = `${status} with ${body}${type === undefined ? "" : `, ${type}`}${doctor}`;
  return buildError(errors.ResponseParseError, call, { summary, progress: received });
}

export function validationError(
  call: Call,
  received: Received,
  why: { readonly issues: readonly ValidationIssue[] } | { readonly thrown: unknown },
): errors.ResponseValidationError {
  const reason = "issues" in why ? describeIssues(why.issues) : "the schema threw";
  const shape = `the response is not of the expected shape: ${reason}`;
  const summary = `${received.head.status}, but ${shape}${doctorFor(call.operation)}`;
  return buildError(errors.ResponseValidationError, call, { summary, progress: received, ...why });
}

function describeIssues(issues: readonly ValidationIssue[]): string {
  const described = issues.map(({ path, message }) => `${path.join(".") || "body"}: ${message}`).join("; ");
  return oneLine(described, MAX_ISSUES_TEXT) || "the schema does not say why";
}

/** The doctor knows the schemas of this package alone. */
function doctorFor({ schema }: Operation<unknown>): string {
  return schema?.["~standard"].vendor === OWN_VENDOR ? `; ${DOCTOR}` : "";
}

function mediaType({ redactor }: Call, headers: ResponseHead["headers"]): string | undefined {
  return redactor.short(headers.get("content-type")?.split(";")[0]);
}

interface Stop extends Partial<Received> {
  readonly deadline: Deadline;
  readonly phase: TimeoutPhase;
}

export function stoppedError(call: Call, { deadline, phase, ...received }: Stop): AutomationError {
  const { reason } = deadline;
  const place = errors.timeoutPlace(phase, call.requests);
  if (reason === "abort") {
    const summary = `aborted by the caller ${place}`;
    return buildError(errors.AbortError, call, { summary, progress: received, cause: call.deadline.signal.reason });
  }
  const limit = reason === "total" ? "totalTimeoutMs" : "timeoutMs";
  const limitMs = call.settings[limit];
  const summary = `${limit}${limitMs < Infinity ? ` (${limitMs})` : ""} ran out ${place}`;
  return buildError(errors.TimeoutError, call, {
    summary,
    progress: received,
    phase,
    cause: call.lastFailure,
  });
}

export function connectionError(
  call: Call,
  { what, why, advice = "", permanent, platformCode }: ConnectionFault,
  failed: Partial<Received> & { readonly cause: unknown },
): errors.ConnectionError {
  const { redactor, settings } = call;
  return buildError(errors.ConnectionError, call, {
    summary: `${what}: ${redactor.short(why) ?? ""}${advice}${proxyHint(settings.baseUrl)}`,
    progress: failed,
    platformCode: redactor.short(platformCode),
    permanent,
    cause: redactor.cause(failed.cause),
  });
}

/** The error of a response whose status is no success (API documentation, section 7; classified by status alone). */
export function refusalError(call: Call, refused: Received): AutomationError {
  const { head, isFromService } = refused;
  const { redactor, operation, settings, url } = call;
  const { status, limit, remaining, retryAfterMs, headers } = head;
  // Redacted as a whole, and only then cut.
  const shown = redactor.json(refused.body);
  const body = typeof shown === "string" ? cut(shown, MAX_FOREIGN_TEXT) : shown;
  const { code, detail } = serviceWords(body);
  const location = status < 400 ? redactor.short(redirectTarget(head, url)) : undefined;
  const isNamed = limit !== undefined || remaining !== undefined || headers.has("x-request-id");
  const text = body === undefined && status >= 400 && !isNamed ? "" : body;
  const foreign = typeof text === "string" ? { mediaType: mediaType(call, headers), text } : undefined;
  const { baseUrl, tokenSource, retry } = settings;
  const token = tokenSource.current;
  const isResent = retry && (status === 429 || mayRepeat(status, { operation, rules: retry }));
  const maxRetryAfterMs = isResent ? retry.maxRetryAfterMs : undefined;
  const advice = adviceOn({
    head,
    operation,
    baseUrl,
    token,
    foreign,
    detail,
    location,
    isFromService,
    maxRetryAfterMs,
  });
  const words = `${status}${shownCode(code)}${detail === undefined ? "" : `: ${detail}`}`;
  const summary = [...(status === 0 ? [] : [words]), ...advice.map((text) => redactor.text(text))].join("; ");
  const parts = { summary, progress: refused, code, detail, body, retryAfterMs };
  if (status < 400) return buildError(errors.RedirectError, call, { location, ...parts });
  if (status === 429) return buildError(errors.RateLimitError, call, { limit, remaining, ...parts });
  return buildError(errors.refusalClass(status), call, parts);
}

/**
 * An error of a class: what happened, how far the request came, what is known of the call, and the class's own fields. What a
 * function of the caller's has thrown ends the message, and is the cause.
 */
export function buildError<Details extends ErrorDetails, Failure>(
  Class: new (message: string, details?: Details) => Failure,
  call: Call,
  parts: NoInfer<Details> & {
    readonly summary: string;
    readonly progress?: Partial<Received>;
    readonly thrown?: unknown;
  },
): Failure {
  const { summary, thrown, progress = {}, ...own } = parts;
  const { id, operation, redactor } = call;
  const { method, path } = operation;
  const { head, text: rawBody, isFromService } = progress;
  // An error about a response may be made when the call has gone on.
  const answer = head && outcomeOfAnswer({ status: head.status, isFromService });
  // The refusal of a later request says nothing about an earlier one, which may have been applied.
  const isAmbiguous = call.outcome.isAmbiguous && isWrite(operation.method);
  const outcome = answer === undefined || (isAmbiguous && answer !== "accepted") ? outcomeOf(call.outcome) : answer;
  const details = {
    callId: id,
    status: head?.status || undefined,
    method,
    path: path.template,
    attempts: call.requests,
    requestId: head && redactor.short(head.headers.get("x-request-id")),
    // A read changes nothing.
    outcome: outcome === "unknown" && !isWrite(operation.method) ? undefined : outcome,
    priorAmbiguous: isAmbiguous || undefined,
    rawBody,
    cause: redactor.cause(thrown),
    ...own,
  };
  const why = thrown === undefined ? "" : ` (${redactor.line(explain(thrown).why, MAX_DETAIL)})`;
  const request = details.requestId === undefined ? "" : ` (request ${details.requestId})`;
  const isForeign = isFromService === false && isSuccess(head?.status ?? 0);
  const doubt = isForeign ? `, ${FOREIGN}; ${DOCTOR}` : "";
  const message = `${operation.label}: ${summary}${doubt}${why}${request}${consequenceOf(operation, details)}`;
  return new Class(message, details as unknown as Details); // the class's own details, and those that every error has
}

/** The consequence of a failed write for its caller; empty for reads, and where nothing can have happened. */
function consequenceOf(operation: Operation<unknown>, { outcome, priorAmbiguous, rawBody }: ErrorDetails): string {
  const isSettled = outcome === "rejected" || outcome === "not_sent";
  if (!isWrite(operation.method) || (isSettled && !priorAmbiguous)) return "";
  if (outcome === "accepted") {
    return `; the service accepted it: do not send it again${rawBody ? " (see rawBody)" : ""}`;
  }
  if (rotatesToken(operation)) return "; the old token may be dead and its replacement lost: check before going on";
  return "; it may have been applied: check before sending it again";
}
