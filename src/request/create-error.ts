import { bare } from "../base/check.ts";
import { oneLine } from "../base/redact.ts";
import type { AutomationError, TimeoutPhase, ValidationIssue } from "../errors/automation-error.ts";
import * as errors from "../errors/classes.ts";
import type { RateLimitSnapshot } from "../rate-limit/rate-limiter.ts";
import { buildError, requestIdOf } from "./build-error.ts";
import type { Call } from "./call.ts";
import { type ConnectionFault, classifyFault } from "./connection-fault.ts";
import type { Failure, Received, Refused } from "./exchange.ts";
import type { ResponseHead } from "./response-head.ts";

/** Of a refusal that is not JSON, mostly the page of a proxy, so many characters are kept. */
const MAX_FOREIGN_TEXT = 2_000;
/** The longest sentence of the service that a message and `detail` show. */
const MAX_DETAIL = 300;
/** The longest text that names issues. */
const MAX_ISSUES_TEXT = 400;

type Of<Kind extends Failure["kind"]> = Extract<Failure, { kind: Kind }>;

/** The error of an exchange that was no success. */
export function exchangeError(call: Call, exchange: Failure): AutomationError {
  switch (exchange.kind) {
    case "refused":
      return refusalError(call, exchange);
    case "oversized":
      return parseError(
        call,
        exchange,
        `a body that is larger than maxResponseBytes (${call.pipeline.maxResponseBytes})`,
      );
    case "failed":
      return connectionError(call, exchange);
    case "stopped":
      return stoppedError(call, exchange);
    case "prevented": {
      const what = "onRequest failed, so the request was not sent";
      return buildError(errors.AbortError, call, { what, cause: exchange.cause });
    }
  }
}

/** The call was not sent, because the token's pause is longer than the call waits for. */
export function pausedError(
  call: Call,
  pauseMs: number,
  known: Pick<RateLimitSnapshot, "limit" | "remaining"> | undefined,
): errors.RateLimitError {
  return buildError(errors.RateLimitError, call, {
    what: `not sent: the rate limit pauses this token for another ${seconds(pauseMs)}`,
    status: 429,
    retryAfterMs: Math.ceil(pauseMs),
    limit: known?.limit,
    remaining: known?.remaining,
    cause: call.history.lastFailure?.(),
  });
}

/** The caller's rate limiter failed, before the request was sent. */
export function limiterError(call: Call, cause: unknown): errors.ConnectionError {
  return foreignError(call, cause, { what: "the rateLimiter failed" });
}

/** Something else of the application's or the platform's failed, when the request may have been sent. */
export function unexpectedError(call: Call, cause: unknown): errors.ConnectionError {
  return foreignError(call, cause, { what: "failed", isSent: true });
}

function foreignError(call: Call, cause: unknown, said: { what: string; isSent?: true }): errors.ConnectionError {
  const { reason } = classifyFault(cause, { ...call.pipeline, sender: "application" });
  const what = `${said.what}${bracketed(call.redactor.brief(reason))}`;
  return buildError(errors.ConnectionError, call, {
    ...said,
    what,
    permanent: true,
    cause: call.redactor.cause(cause),
  });
}

/** The token source failed: `cause` is what it rejected with, `what` says it in words. */
export function tokenError(call: Call, what: string, cause?: unknown): errors.TokenProviderError {
  return buildError(errors.TokenProviderError, call, { what, cause: call.redactor.cause(cause) });
}

/** A success whose body cannot be parsed: not JSON, empty, too large. `body` names it. */
export function parseError(
  call: Call,
  { head, text }: { readonly head: ResponseHead; readonly text?: string | undefined },
  body: string,
): errors.ResponseParseError {
  const type = call.redactor.brief(head.headers.get("content-type")?.split(";")[0]);
  const what = `${head.status} with ${body}${type === undefined ? "" : `, ${type}`}`;
  return buildError(errors.ResponseParseError, call, { what, head, rawBody: text });
}

/** A success of another shape than expected: what its schema found, or threw, free of secrets. */
export function validationError(
  call: Call,
  { head, text }: Received,
  why: { readonly issues: readonly ValidationIssue[] } | { readonly cause: unknown },
): errors.ResponseValidationError {
  const reason = "issues" in why ? describeIssues(why.issues) : "the schema threw";
  const what = `${head.status}, but the response is not of the expected shape: ${reason}`;
  return buildError(errors.ResponseValidationError, call, { what, head, rawBody: text, ...why });
}

/** The issues in one line: `data.0.id: expected string; …`. */
function describeIssues(issues: readonly ValidationIssue[]): string {
  const described = issues.map(({ path, message }) => `${path.join(".") || "body"}: ${message}`).join("; ");
  return oneLine(described, MAX_ISSUES_TEXT) || "the schema does not say why";
}

const PLACES: Readonly<Record<TimeoutPhase, string>> = {
  queue: "before the request was sent",
  token: "while getting the token",
  headers: "while waiting for the response",
  body: "while reading the response",
  total: "between attempts",
};

/** The caller's signal, `timeoutMs` or `totalTimeoutMs` ended the call. */
function stoppedError(call: Call, { reason, phase, head, text: rawBody, isSent }: Of<"stopped">): AutomationError {
  const said = { head, isSent, rawBody };
  if (reason === "abort") {
    const what = `aborted by the caller ${PLACES[phase]}`;
    return buildError(errors.AbortError, call, { ...said, what, cause: call.deadline.signal.reason });
  }
  const limit = reason === "total" ? "totalTimeoutMs" : "timeoutMs";
  const limitMs = call.settings[limit];
  const what = `${limit}${Number.isFinite(limitMs) ? ` (${limitMs})` : ""} ran out ${PLACES[phase]}`;
  return buildError(errors.TimeoutError, call, { ...said, what, phase, cause: call.history.lastFailure?.() });
}

function connectionError(call: Call, { fault, cause, head, text: rawBody }: Of<"failed">): AutomationError {
  return buildError(errors.ConnectionError, call, {
    what: whoseFault(call, fault),
    head,
    isSent: fault.isSent,
    platformCode: call.redactor.brief(fault.platformCode),
    permanent: fault.isPermanent || undefined,
    rawBody,
    cause: call.redactor.cause(cause),
  });
}

function whoseFault({ pipeline, redactor }: Call, { culprit, ...fault }: ConnectionFault): string {
  const { host } = new URL(pipeline.baseUrl);
  const [code, reason, place] = [fault.platformCode, fault.reason, fault.elsewhere].map((text) => redactor.brief(text));
  if (culprit === "request") return `the request could not be made${bracketed(reason)}`;
  if (culprit === "response")
    return `the response of ${host} ${code ? `was cut off (${code})` : `could not be read: ${reason}`}`;
  if (culprit === "fetch") {
    const isInReason = reason?.includes(code ?? "");
    return `the fetch of the application failed: ${reason ?? "it does not say why"}${isInReason ? "" : bracketed(code)}`;
  }
  if (culprit === "proxy") return `a proxy opened no tunnel to ${host}${bracketed(reason)}`;
  const failed = fault.isSent ? "the connection was lost to" : "no connection could be made to";
  const what = fault.isPermanent ? "the request failed to reach" : failed;
  const at = place === undefined ? "" : ` at ${place}, its address or that of a proxy`;
  const hint = culprit === "page" ? "; in a page, the service may not allow its origin (CORS)" : "";
  return `${what} ${host}${at}${bracketed(code ?? reason)}${hint}`;
}

const BY_STATUS: Readonly<Record<number, typeof errors.ApiError>> = {
  400: errors.BadRequestError,
  401: errors.AuthenticationError,
  403: errors.PermissionDeniedError,
  404: errors.NotFoundError,
  409: errors.ConflictError,
  422: errors.BadRequestError,
};

/** The error of a response whose status is no success (contract, section 7; classified by status alone). */
function refusalError(call: Call, { head, body: sent }: Refused): AutomationError {
  const { redactor } = call;
  const { status, isRedirect, limits } = head;
  // Redacted as a whole, and only then cut.
  const body = typeof sent === "string" ? redactor.text(sent).slice(0, MAX_FOREIGN_TEXT) : redactor.json(sent);
  const code = textIn(body, "error");
  const sentence = [textIn(body, "message"), textIn(body, "detail")].find((text) => text?.trim());
  // Never markup.
  const detail = oneLine(/<[a-z!/]/i.test(sentence ?? "") ? "" : (sentence ?? ""), MAX_DETAIL) || undefined;
  const shownCode = code !== undefined && /^[\w.:-]{1,64}$/.test(code) ? ` ${code}` : "";
  const request = requestIdOf(call, head);
  const summary = `${status}${shownCode}${detail ? `: ${detail}` : ""}${bracketed(request && `request ${request}`)}`;
  const what = [status === 0 ? [] : summary, hintOf(call, head)].flat().join("; ");
  const said = { what, head, code, detail, body, retryAfterMs: limits.retryAfterMs };
  if (isRedirect) return buildError(errors.RedirectError, call, said);
  if (status === 429) return buildError(errors.RateLimitError, call, { ...limits, ...said });
  return buildError(BY_STATUS[status] ?? (status >= 500 ? errors.ServerError : errors.ApiError), call, said);
}

/** A field of a refusal's body, if it is a text. */
function textIn(body: unknown, name: string): string | undefined {
  const value: unknown = bare<Record<string, unknown>>(typeof body === "object" ? { ...body } : {})[name];
  return typeof value === "string" ? value : undefined;
}

/** What a person may look at, by what the service refused. */
function hintOf({ operation, pipeline }: Call, { status, isRedirect, limits }: ResponseHead): string[] {
  if (isRedirect) return ["redirects are not followed: check baseUrl"];
  if (status === 429 && limits.retryAfterMs !== undefined) {
    return [`the service asks to wait ${seconds(limits.retryAfterMs)}`];
  }
  if (status === 404 && !/\/v\d[^/]*$/i.test(pipeline.baseUrl)) {
    return ["if every call ends so, baseUrl may lack its version segment, such as /api/v1"];
  }
  if (status !== 403) return [];
  const both = "both the token's scopes and its owner's permissions must allow it";
  if (operation.scope !== undefined) return [`the contract asks for ${operation.scope}: ${both}`];
  return [operation.name === "tokens.create" ? "a token can have only scopes that its creator holds" : both];
}

function bracketed(text: string | undefined): string {
  return text === undefined ? "" : ` (${text})`;
}

/** A duration in a message. */
function seconds(ms: number): string {
  return `${Math.ceil(ms / 100) / 10} s`;
}
