import type { Redactor } from "../base/redact.ts";
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
import type { AutomationError, TimeoutPhase } from "../errors/automation-error.ts";
import { AbortError, ConnectionError, RedirectError, TimeoutError } from "../errors/client-errors.ts";
import type { Call } from "./call.ts";
import { type ConnectionFault, describeFailure, type Fault, isNotSent } from "./connection-fault.ts";
import { buildError, causedBefore, parseError, seconds } from "./create-error.ts";
import type { Failure, Refused } from "./exchange.ts";

type Of<Kind extends Failure["kind"]> = Extract<Failure, { kind: Kind }>;

/** The error of an exchange that was no success. */
export function exchangeError(call: Call, exchange: Failure): AutomationError {
  switch (exchange.kind) {
    case "refused":
      return refusalError(call, exchange);
    case "oversized": {
      const what = `a body that is larger than maxResponseBytes (${call.pipeline.maxResponseBytes})`;
      return parseError(call, { head: exchange.head, text: undefined }, what);
    }
    case "cut":
      return cutError(call, exchange);
    case "failed":
      return connectionError(call, exchange);
    case "stopped":
      return stoppedError(call, exchange);
    case "prevented":
      return buildError(AbortError, call, {
        what: "onRequest failed, so the request was not sent",
        cause: exchange.cause,
      });
  }
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
    return buildError(AbortError, call, { ...said, what, cause: call.deadline.signal.reason });
  }
  const limit = reason === "total" ? "totalTimeoutMs" : "timeoutMs";
  const limitMs = call.settings[limit];
  const what = `${limit}${Number.isFinite(limitMs) ? ` (${limitMs})` : ""} ran out ${PLACES[phase]}`;
  return buildError(TimeoutError, call, { ...said, what, phase, ...causedBefore(call) });
}

const WHAT_HAPPENED: Readonly<Record<Fault, string>> = {
  never_sent: "no connection could be made to",
  refused: "the request failed to reach",
  lost: "the connection was lost to",
  unexplained: "the request failed to reach",
};

function connectionError(call: Call, { fault: failure, cause }: Of<"failed">): ConnectionError {
  const { fault, platformCode } = failure;
  return buildError(ConnectionError, call, {
    what: whoseFault(call, failure),
    isSent: !isNotSent(fault),
    isNeverSent: fault === "never_sent",
    platformCode: call.redactor.brief(platformCode),
    permanent: fault === "refused" || fault === "unexplained" ? true : undefined,
    cause: call.redactor.cause(cause),
  });
}

function whoseFault({ pipeline, redactor }: Call, { fault, culprit, elsewhere, ...said }: ConnectionFault): string {
  const [code, reason] = [redactor.brief(said.platformCode), redactor.brief(said.reason)];
  const why = bracketed(code ?? reason);
  switch (culprit) {
    case "fetch": {
      const isInReason = code !== undefined && reason?.includes(code);
      return `the fetch of the application failed: ${reason ?? "it does not say why"}${isInReason ? "" : bracketed(code)}`;
    }
    case "proxy":
      return `a proxy opened no tunnel to ${pipeline.host}${bracketed(reason)}`;
    case "page":
      return `the connection was lost to ${pipeline.host}${why}; in a page, the service may not allow its origin (CORS)`;
    default: {
      const place = redactor.brief(elsewhere);
      const at = place === undefined ? "" : ` at ${place}, its address or that of a proxy`;
      return `${WHAT_HAPPENED[fault]} ${pipeline.host}${at}${why}`;
    }
  }
}

function bracketed(text: string | undefined): string {
  return text === undefined ? "" : ` (${text})`;
}

function cutError(call: Call, { head, text: rawBody, cause }: Of<"cut">): ConnectionError {
  const { redactor } = call;
  const failure = describeFailure(cause);
  const platformCode = redactor.brief(failure.platformCode);
  const why =
    platformCode === undefined
      ? `could not be read: ${redactor.brief(failure.reason)}`
      : `was cut off (${platformCode})`;
  const what = `the response of ${call.pipeline.host} ${why}`;
  return buildError(ConnectionError, call, { what, head, rawBody, platformCode, cause: redactor.cause(cause) });
}

/** Of a refusal that is not JSON, mostly the page of a proxy, so many characters are kept. */
const MAX_FOREIGN_TEXT = 2_000;

/** The longest sentence of the service that a message and `detail` show. */
const MAX_DETAIL = 300;

const BY_STATUS: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: BadRequestError,
};

/** The error of a response whose status is no success (contract, section 7; classified by status alone). */
function refusalError(call: Call, refused: Refused): AutomationError {
  const { redactor } = call;
  const { head } = refused;
  const { status, limits } = head;
  // Redacted as a whole, and only then cut.
  const body =
    typeof refused.body === "string"
      ? redactor.text(refused.body).slice(0, MAX_FOREIGN_TEXT)
      : redactor.json(refused.body);
  const code = stringField(body, "error");
  const detail = detailOf(redactor, body);
  const { retryAfterMs, limit, remaining } = limits;
  const said = { head, code, detail, body };
  const shownCode = code !== undefined && /^[\w.:-]{1,64}$/.test(code) ? ` ${code}` : "";
  const requestId = redactor.brief(head.headers.get("x-request-id"));
  const summary = `${status}${shownCode}${detail === undefined ? "" : `: ${detail}`}${bracketed(requestId && `request ${requestId}`)}`;
  if (head.isRedirect) {
    const what = `${status === 0 ? "" : `${summary}; `}redirects are not followed: check baseUrl`;
    return buildError(RedirectError, call, { ...said, what });
  }
  if (status === 429) {
    const asked = retryAfterMs === undefined ? "" : `; the service asks to wait ${seconds(retryAfterMs)}`;
    return buildError(RateLimitError, call, { ...said, what: `${summary}${asked}`, limit, remaining, retryAfterMs });
  }
  const Refusal = BY_STATUS[status] ?? (status >= 500 ? ServerError : ApiError);
  return buildError(Refusal, call, { ...said, what: `${summary}${hintOf(call, status)}`, retryAfterMs });
}

function hintOf({ operation, pipeline }: Call, status: number): string {
  if (status === 404 && !/\/v\d[^/]*$/i.test(pipeline.baseUrl))
    return "; if every call ends so, baseUrl may lack its version segment, such as /api/v1";
  if (status !== 403) return "";
  const both = "both the token's scopes and its owner's permissions must allow it";
  if (operation.scope !== undefined) return `; the contract asks for ${operation.scope}: ${both}`;
  if (operation.name === "tokens.create") return "; a token can have only scopes that its creator holds";
  return `; ${both}`;
}

/** The service's own sentence: the body's `message`, else its `detail`. Never markup. */
function detailOf(redactor: Redactor, body: unknown): string | undefined {
  const sentence = [stringField(body, "message"), stringField(body, "detail")].find((one) => one?.trim());
  if (sentence === undefined || /<[a-z!/]/i.test(sentence)) return undefined;
  const line = redactor.line(sentence, MAX_DETAIL);
  return line === "" ? undefined : line;
}

function stringField(body: unknown, name: string): string | undefined {
  if (typeof body !== "object" || body === null || !Object.hasOwn(body, name)) return undefined;
  const value = (body as Record<string, unknown>)[name]; // any object can be asked for a field
  return typeof value === "string" ? value : undefined;
}
