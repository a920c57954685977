import type { AutomationError, ErrorDetails, TimeoutPhase, ValidationIssue } from "../errors/automation-error.ts";
import {
  AbortError,
  ConnectionError,
  RedirectError,
  ResponseParseError,
  ResponseValidationError,
  TimeoutError,
  TokenProviderError,
} from "../errors/failures.ts";
import {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
} from "../errors/refusals.ts";
import { stringsOf } from "../schemas/foreign-issues.ts";
import { describeIssues } from "../schemas/validator.ts";
import { consequenceOf, detailsOf, labelOf, redactorOf } from "./account.ts";
import type { Call } from "./call.ts";
import { classifyFault } from "./connection-fault.ts";
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

/** The caller's signal or a time budget ended the call. `rawBody`: what had come of a success by then. */
export function stopped(call: Call, rawBody?: string): AutomationError {
  const details = { ...detailsOf(call), rawBody };
  const consequence = consequenceOf(call, details.outcome);
  if (call.budget.reason === "abort") {
    const message = `${labelOf(call)}: aborted by the caller ${PLACES[call.progress.phase]}${consequence}`;
    return new AbortError(message, { ...details, cause: call.callerSignal?.reason });
  }
  const limit = call.budget.reason === "total" ? "totalTimeoutMs" : "timeoutMs";
  return new TimeoutError(`${labelOf(call)}: ${limit} ran out ${PLACES[call.progress.phase]}${consequence}`, {
    ...details,
    phase: call.progress.phase,
    ...(call.progress.lastFailure === undefined ? {} : { cause: call.progress.lastFailure }),
  });
}

/** The token's pause is longer than the call would wait. After a 429 of its own, what that said is told again. */
export function heldBack(call: Call, pauseMs: number): RateLimitError {
  call.progress.heldBack = true;
  const own = call.progress.lastFailure === call.progress.refusal ? call.progress.refusal : undefined;
  const { credential, rateLimiter } = call.pipeline;
  const { limit, remaining } = own ?? rateLimiter.snapshot(credential.current) ?? {};
  const details = detailsOf(call);
  const message = `${labelOf(call)}: held back, the service's rate limit pauses this token for another ${seconds(pauseMs)}`;
  return new RateLimitError(`${message}${consequenceOf(call, own?.outcome ?? details.outcome)}`, {
    ...details,
    ...(own === undefined ? {} : { code: own.code, body: own.body, requestId: own.requestId, outcome: own.outcome }),
    status: 429,
    retryAfterMs: Math.ceil(pauseMs),
    limit,
    remaining,
    ...(own === undefined && call.progress.lastFailure !== undefined ? { cause: call.progress.lastFailure } : {}),
  });
}

/** The token provider threw (`problem` is then what it threw), or gave something that cannot be a token. */
export function providerFailed(call: Call, problem: { cause: unknown } | { flaw: string }): TokenProviderError {
  const what = "flaw" in problem ? `gave no usable token: it ${problem.flaw}` : "failed";
  const cause = "cause" in problem ? { cause: redactorOf(call).cause(problem.cause) } : {};
  return new TokenProviderError(`${labelOf(call)}: the token provider ${what}`, { ...detailsOf(call), ...cause });
}

/** The transport rejected, before the answer or in its body. */
export function disconnected(
  call: Call,
  thrown: { cause: unknown; isNetwork: boolean },
  rawBody?: string,
): ConnectionError {
  const { fault, notSent, platformCode: foundCode } = classifyFault(thrown.cause, thrown.isNetwork);
  const redactor = redactorOf(call);
  const platformCode = foundCode === undefined ? undefined : redactor.text(foundCode).slice(0, 64);
  const inBody = call.progress.response !== undefined;
  call.progress.fault = inBody ? "lost" : fault;
  if (notSent && !inBody) call.progress.sent = false;
  const details = detailsOf(call);
  const what = inBody && thrown.isNetwork ? "the answer was cut off" : WHAT_HAPPENED[fault];
  const code = platformCode === undefined ? "" : ` (${platformCode})`;
  return new ConnectionError(`${labelOf(call)}: ${what}${code}${consequenceOf(call, details.outcome)}`, {
    ...details,
    platformCode,
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
  const redactor = redactorOf(call);
  const parsed = parseLeniently(text);
  const body = typeof parsed === "string" ? redactor.prose(parsed) : redactor.json(parsed);
  const code = codeOf(body);
  const { status, headers } = response;
  const details: ErrorDetails & { outcome: ReturnType<typeof detailsOf>["outcome"] } = {
    ...detailsOf(call),
    code,
    body,
  };
  const said = [String(status), code !== undefined && /^[\w.:-]{1,64}$/.test(code) ? code : ""]
    .filter(Boolean)
    .join(" ");
  const request = details.requestId === undefined ? "" : ` (request ${details.requestId})`;
  const message = `${labelOf(call)}: ${said}${request}`;
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    const shown = status === 0 ? labelOf(call) : message;
    return new RedirectError(
      `${shown}: redirects are not followed, since the token would travel; check baseUrl`,
      details,
    );
  }
  if (status === 429) {
    const { limit, remaining, retryAfterMs } = readRateLimit(response);
    const asked = retryAfterMs === undefined ? "" : `; the service asks to wait ${seconds(retryAfterMs)}`;
    return new RateLimitError(`${message}${asked}`, { ...details, limit, remaining, retryAfterMs });
  }
  if (status >= 500) {
    const retryAfterMs = status === 503 ? readRetryAfter(headers) : undefined;
    return new ServerError(`${message}${consequenceOf(call, details.outcome)}`, { ...details, retryAfterMs });
  }
  if (status === 403) return new PermissionDeniedError(`${message}${scopeHint(call)}`, details);
  const Refusal = BY_STATUS[status] ?? ApiError;
  return new Refusal(`${message}${consequenceOf(call, details.outcome)}`, details);
}

const BY_STATUS: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
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
export function unparsable(call: Call, what: string, rawBody: string | undefined): ResponseParseError {
  const details = detailsOf(call);
  const type = call.progress.response?.headers.get("content-type")?.split(";")[0]?.trim() ?? "";
  const shownType = /^[\w.+-]{1,40}\/[\w.+-]{1,60}$/.test(type) ? `, ${type}` : "";
  const message = `${labelOf(call)}: answered ${details.status} with ${what}${shownType}${consequenceOf(call, details.outcome)}`;
  return new ResponseParseError(redactorOf(call).text(message), { ...details, rawBody });
}

/** A 2xx answer of another shape than expected. */
export function invalid(
  call: Call,
  issues: readonly ValidationIssue[],
  found: { data: unknown; text: string | undefined; cause?: unknown },
): ResponseValidationError {
  const details = detailsOf(call);
  const silent = "cause" in found ? "the schema threw" : "the schema does not say why";
  const what = issues.length > 0 ? describeIssues(issues) : silent;
  const message = `${labelOf(call)}: answered ${details.status}, but not as expected: ${what}`;
  // A schema's own error may quote the answer, which may hold a one-time secret.
  const quotable = "cause" in found ? stringsOf(found.data).filter((text) => text.length >= SHORTEST_QUOTED) : [];
  const cause = "cause" in found ? { cause: redactorOf(call, quotable).cause(found.cause) } : {};
  return new ResponseValidationError(`${message}${consequenceOf(call, details.outcome)}`, {
    ...details,
    issues,
    rawBody: found.text,
    ...cause,
  });
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
