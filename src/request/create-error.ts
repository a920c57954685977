import { RateLimitError } from "../errors/api-errors.ts";
import type { AutomationError, TimeoutPhase, ValidationIssue } from "../errors/automation-error.ts";
import {
  AbortError,
  ConnectionError,
  ResponseParseError,
  ResponseValidationError,
  TimeoutError,
  TokenProviderError,
} from "../errors/client-errors.ts";
import type { RateLimitSnapshot } from "../rate-limit/rate-limiter.ts";
import { describeIssues } from "../schemas/validator.ts";
import { type ConnectionFault, classifyFault } from "./connection-fault.ts";
import { buildError, type CallFacts, seconds } from "./error-details.ts";
import type { Exchange, Received, ResponseHead, Stopped } from "./exchange.ts";
import { refusalError } from "./refusal-error.ts";

// Every error of a call is made here or in refusal-error.ts, from values. No headers, request, response or token leaves
// with one, also where the service echoes it.

/** The longest code of a platform that is shown. */
const MAX_CODE_LENGTH = 64;

const PLACES: Readonly<Record<TimeoutPhase, string>> = {
  queue: "before the request was sent",
  token: "while getting the token",
  headers: "while waiting for the response",
  body: "while reading the response",
  total: "between attempts",
};

const WHAT_HAPPENED: Readonly<Record<ConnectionFault["fault"], string>> = {
  never_sent: "no connection could be made to",
  lost: "the connection was lost to",
  permanent: "the request failed to reach",
};

/** The error of an exchange that was no success. `signal`: the caller's, whose reason is the cause of an abort. */
export function exchangeError(facts: CallFacts, exchange: Exchange, signal: AbortSignal | undefined): AutomationError {
  switch (exchange.kind) {
    case "received":
      return refusalError(facts, exchange);
    case "oversized":
      return parseError(facts, { ...exchange, text: undefined }, "a body that is larger than maxResponseBytes");
    case "cut":
      return cutError(facts, exchange);
    case "failed":
      return connectionError(facts, exchange);
    case "stopped":
      return stoppedError(facts, exchange, signal);
    case "prevented":
      return buildError(AbortError, facts, {
        what: "onRequest failed, so the request was not sent",
        at: {},
        cause: exchange.cause,
      });
  }
}

/** The caller's signal, `timeoutMs` or `totalTimeoutMs` ended the call. */
export function stoppedError(
  facts: CallFacts,
  { reason, phase, head, text: rawBody, isSent }: Omit<Stopped, "kind">,
  signal: AbortSignal | undefined,
): AutomationError {
  const at = { head, isSent };
  if (reason === "abort") {
    const what = `aborted by the caller ${PLACES[phase]}`;
    return buildError(AbortError, facts, { what, at, rawBody, cause: signal?.reason });
  }
  const what = `${reason === "total" ? "totalTimeoutMs" : "timeoutMs"} ran out ${PLACES[phase]}`;
  const cause = facts.lastError === undefined ? {} : { cause: facts.lastError };
  return buildError(TimeoutError, facts, { what, at, rawBody, phase, ...cause });
}

/** The call was not sent, because the token's pause is longer than the call waits for. */
export function pausedError(
  facts: CallFacts,
  pauseMs: number,
  known: Pick<RateLimitSnapshot, "limit" | "remaining"> | undefined,
): RateLimitError {
  return buildError(RateLimitError, facts, {
    what: `not sent: the rate limit pauses this token for another ${seconds(pauseMs)}`,
    at: {},
    status: 429,
    retryAfterMs: Math.ceil(pauseMs),
    limit: known?.limit,
    remaining: known?.remaining,
    ...(facts.lastError && { cause: facts.lastError }),
  });
}

/** The token source failed: `cause` is what it rejected with, `problem` says it in words. */
export function tokenError(facts: CallFacts, problem: string, cause?: unknown): TokenProviderError {
  const kept = cause === undefined ? {} : { cause: facts.redactor.cause(cause) };
  return buildError(TokenProviderError, facts, { what: problem, at: {}, ...kept });
}

function connectionError(
  facts: CallFacts,
  { fault: { fault, notSent, platformCode }, cause }: Extract<Exchange, { kind: "failed" }>,
): ConnectionError {
  const code = shownCode(facts, platformCode);
  return buildError(ConnectionError, facts, {
    what: `${WHAT_HAPPENED[fault]} ${facts.host}${code === undefined ? "" : ` (${code})`}`,
    at: { isSent: !notSent, isNeverSent: fault === "never_sent" },
    platformCode: code,
    permanent: fault === "permanent" ? true : undefined,
    cause: facts.redactor.cause(cause),
  });
}

function cutError(facts: CallFacts, { head, text, cause }: Extract<Exchange, { kind: "cut" }>): ConnectionError {
  const code = shownCode(facts, classifyFault(cause, true).platformCode);
  return buildError(ConnectionError, facts, {
    what: `the response of ${facts.host} was cut off${code === undefined ? "" : ` (${code})`}`,
    at: { head },
    rawBody: text,
    platformCode: code,
    cause: facts.redactor.cause(cause),
  });
}

function shownCode({ redactor }: CallFacts, code: string | undefined): string | undefined {
  return code === undefined ? undefined : redactor.line(code, MAX_CODE_LENGTH);
}

/** A success whose body cannot be parsed: not JSON, empty, too large. `what` names it. */
export function parseError(facts: CallFacts, { head, text }: Omit<Received, "kind">, what: string): ResponseParseError {
  const type = head.headers.get("content-type")?.split(";")[0]?.trim() ?? "";
  const shownType = /^[\w.+-]{1,40}\/[\w.+-]{1,60}$/.test(type) ? `, ${facts.redactor.text(type)}` : "";
  return buildError(ResponseParseError, facts, {
    what: `${head.status} with ${what}${shownType}`,
    at: { head },
    rawBody: text,
  });
}

/** Why a success is not of the expected shape: the issues of its schema, or what the schema threw, free of secrets. */
export interface Invalid {
  readonly head: ResponseHead;
  readonly text: string | undefined;
  readonly issues: readonly ValidationIssue[];
  readonly thrown?: { readonly cause: unknown } | undefined;
}

/** A success of another shape than expected. */
export function validationError(facts: CallFacts, { head, text, issues, thrown }: Invalid): ResponseValidationError {
  const silent = thrown === undefined ? "the schema does not say why" : "the schema threw";
  const why = issues.length > 0 ? describeIssues(issues) : silent;
  return buildError(ResponseValidationError, facts, {
    what: `${head.status}, but the response is not of the expected shape: ${why}`,
    at: { head },
    issues,
    rawBody: text,
    ...thrown,
  });
}
