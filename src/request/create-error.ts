import {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
} from "../errors/api-errors.ts";
import type { AutomationError, ErrorDetails, TimeoutPhase, ValidationIssue } from "../errors/automation-error.ts";
import {
  AbortError,
  ConnectionError,
  RedirectError,
  ResponseParseError,
  ResponseValidationError,
  TimeoutError,
  TokenProviderError,
} from "../errors/client-errors.ts";
import { stringsOf } from "../schemas/foreign-issues.ts";
import { describeIssues } from "../schemas/validator.ts";
import type { Call } from "./call.ts";
import { classifyFault } from "./connection-fault.ts";
import { consequenceOf, detailsOf, labelOf, redactorOf } from "./error-details.ts";
import { parseJson } from "./json.ts";
import { readRateLimit, readRetryAfter } from "./rate-limit-headers.ts";

// The one place where whatever was refused or thrown becomes one of our errors. No headers, request, response or token
// leaves with them, also where the service echoes it.

/** Of a refusal that is not JSON, mostly a proxy's page, the beginning tells enough. */
const MAX_FOREIGN_TEXT = 2_000;

/** No secret is shorter, and shorter strings of an answer occur in any stack. */
const SHORTEST_QUOTED = 12;

const PLACES: Readonly<Record<TimeoutPhase, string>> = {
  queue: "in the queue of the rate limiter",
  token: "while getting the token",
  headers: "while waiting for the answer",
  body: "while reading the answer",
  total: "between attempts",
};

/** An error of a class, which tells of the call what it knows and what of it may have come about. */
function failure<Details extends ErrorDetails, Failure>(
  Class: new (message: string, details?: Details) => Failure,
  call: Call,
  told: NoInfer<Details> & { readonly what: string },
): Failure {
  const { what, ...details } = { ...detailsOf(call), ...told };
  const message = `${labelOf(call)}: ${what}${consequenceOf(call, details.outcome)}`;
  return new Class(message, details as unknown as Details); // `told` without `what`, and what any error may tell
}

/** The caller's signal or a time budget ended the call. `rawBody`: what had come of a success by then. */
export function stopped(call: Call, rawBody?: string): AutomationError {
  const { phase, lastFailure } = call.progress;
  const { reason } = call.budget;
  if (reason === "abort") {
    const what = `aborted by the caller ${PLACES[phase]}`;
    return failure(AbortError, call, { what, rawBody, cause: call.callerSignal?.reason });
  }
  const what = `${reason === "total" ? "totalTimeoutMs" : "timeoutMs"} ran out ${PLACES[phase]}`;
  const cause = lastFailure === undefined ? {} : { cause: lastFailure };
  return failure(TimeoutError, call, { what, rawBody, phase, ...cause });
}

/** The caller's `onRequest` failed, so nothing was sent. */
export function preventedByCaller(call: Call, cause: unknown): AutomationError {
  return failure(AbortError, call, { what: "onRequest failed, so the request was not sent", cause });
}

/** The token's pause is longer than the call would wait. After a 429 of its own, what that said is told again. */
export function heldBack(call: Call, pauseMs: number): RateLimitError {
  const { pipeline } = call;
  const { lastFailure } = call.progress;
  const own = lastFailure instanceof RateLimitError ? lastFailure : undefined;
  const known = own ?? pipeline.rateLimiter.snapshot(pipeline.credential.current);
  const told = own
    ? { code: own.code, body: own.body, requestId: own.requestId, outcome: own.outcome }
    : lastFailure && { cause: lastFailure };
  return failure(RateLimitError, call, {
    what: `held back, the rate limit pauses this token for another ${seconds(pauseMs)}`,
    status: 429,
    retryAfterMs: Math.ceil(pauseMs),
    limit: known?.limit,
    remaining: known?.remaining,
    ...told,
  });
}

/** The token provider threw (`problem` is then what it threw), or gave something that cannot be a token. */
export function providerFailed(call: Call, problem: { cause: unknown } | { flaw: string }): TokenProviderError {
  if ("flaw" in problem) {
    return failure(TokenProviderError, call, { what: `the token provider gave no usable token: it ${problem.flaw}` });
  }
  const cause = redactorOf(call).cause(problem.cause);
  return failure(TokenProviderError, call, { what: "the token provider failed", cause });
}

/** The transport rejected, before the answer or in its body. */
export function disconnected(
  call: Call,
  thrown: { cause: unknown; isNetwork: boolean },
  rawBody?: string,
): ConnectionError {
  const { progress } = call;
  const { fault, notSent, platformCode: code } = classifyFault(thrown.cause, thrown.isNetwork);
  const redactor = redactorOf(call);
  const platformCode = code && redactor.text(code).slice(0, 64);
  const isInBody = progress.response !== undefined;
  progress.fault = isInBody ? "lost" : fault;
  if (notSent && !isInBody) progress.sent = false;
  const happened = isInBody && thrown.isNetwork ? "the answer was cut off" : WHAT_HAPPENED[fault];
  const what = platformCode ? `${happened} (${platformCode})` : happened;
  const permanent = !isInBody && fault === "permanent" ? true : undefined;
  return failure(ConnectionError, call, {
    what,
    platformCode,
    permanent,
    rawBody,
    cause: redactor.cause(thrown.cause),
  });
}

const WHAT_HAPPENED = {
  never_sent: "no connection could be made",
  lost: "the connection was lost",
  permanent: "the request failed",
} as const;

/** The service answered with a status that is no success. `text`: its body, as far as it was read. */
export function refused(call: Call, response: Response, text: string | undefined): AutomationError {
  const { status, headers, type } = response;
  const redactor = redactorOf(call);
  const parsed = parseLeniently(text);
  const body = typeof parsed === "string" ? redactor.prose(parsed) : redactor.json(parsed);
  const code = codeOf(body);
  const { requestId } = detailsOf(call);
  const shownCode = code !== undefined && /^[\w.:-]{1,64}$/.test(code) ? ` ${code}` : "";
  const said = `${status}${shownCode}${requestId === undefined ? "" : ` (request ${requestId})`}`;
  if (type === "opaqueredirect" || (status >= 300 && status < 400)) {
    const what = `${status === 0 ? "" : `${said}: `}redirects are not followed; check baseUrl`;
    return failure(RedirectError, call, { what, code, body });
  }
  if (status === 429) {
    const { limit, remaining, retryAfterMs } = readRateLimit(response);
    const what = retryAfterMs === undefined ? said : `${said}; the service asks to wait ${seconds(retryAfterMs)}`;
    return failure(RateLimitError, call, { what, code, body, limit, remaining, retryAfterMs });
  }
  const retryAfterMs = status === 503 ? readRetryAfter(headers) : undefined;
  const Refusal = BY_STATUS[status] ?? (status >= 500 ? ServerError : ApiError);
  const hint = status === 403 ? scopeHint(call) : "";
  return failure(Refusal, call, { what: `${said}${hint}`, code, body, retryAfterMs });
}

const BY_STATUS: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: BadRequestError,
};

function scopeHint(call: Call): string {
  const { scope, name } = call.operation;
  const both = "both the token's scopes and its owner's permissions must allow it";
  if (scope !== undefined) return `; the contract asks for ${scope}: ${both}`;
  if (name === "tokens.create") return "; a token can be given only scopes that its creator holds";
  return `; ${both}`;
}

/** A 2xx answer whose body is not what can be read: not JSON, empty, too large. */
export function unparsable(call: Call, body: string, rawBody: string | undefined): ResponseParseError {
  const { response } = call.progress;
  const type = response?.headers.get("content-type")?.split(";")[0]?.trim() ?? "";
  const shown = /^[\w.+-]{1,40}\/[\w.+-]{1,60}$/.test(type) ? `, ${redactorOf(call).text(type)}` : "";
  return failure(ResponseParseError, call, { what: `answered ${response?.status} with ${body}${shown}`, rawBody });
}

/** A 2xx answer of another shape than expected. */
export function invalid(
  call: Call,
  issues: readonly ValidationIssue[],
  found: { data: unknown; text: string | undefined; cause?: unknown },
): ResponseValidationError {
  const { data, text: rawBody } = found;
  const hasThrown = "cause" in found;
  const silent = hasThrown ? "the schema threw" : "the schema does not say why";
  const wrong = issues.length > 0 ? describeIssues(issues) : silent;
  const what = `answered ${call.progress.response?.status}, but not as expected: ${wrong}`;
  if (!hasThrown) return failure(ResponseValidationError, call, { what, issues, rawBody });
  // A schema's own error may quote the answer, which may hold a one-time secret.
  const quotable = stringsOf(data).filter((text) => text.length >= SHORTEST_QUOTED);
  const cause = redactorOf(call, quotable).cause(found.cause);
  return failure(ResponseValidationError, call, { what, issues, rawBody, cause });
}

function parseLeniently(text: string | undefined): unknown {
  if (text === undefined || text.trim() === "") return undefined;
  try {
    return parseJson(text);
  } catch {
    return text.slice(0, MAX_FOREIGN_TEXT);
  }
}

function codeOf(body: unknown): string | undefined {
  const code: unknown = typeof body === "object" && body !== null && "error" in body ? body.error : undefined;
  return typeof code === "string" ? code : undefined;
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 100) / 10} s`;
}
