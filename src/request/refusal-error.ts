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
import type { AutomationError } from "../errors/automation-error.ts";
import { RedirectError } from "../errors/client-errors.ts";
import { buildError, type CallFacts, headerText, seconds } from "./error-details.ts";
import type { Received } from "./exchange.ts";
import { parseJson } from "./json.ts";
import type { Redactor } from "./redact.ts";
import { readRateLimit, readRetryAfter } from "./response-headers.ts";

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
export function refusalError(facts: CallFacts, { head, text }: Received): AutomationError {
  const { status, headers, isRedirect } = head;
  const body = bodyOf(facts.redactor, text);
  const code = stringField(body, "error");
  const detail = detailOf(facts.redactor, body);
  const said = { at: { head }, code, detail, body };
  const summary = summarize(facts, status, { code, detail, requestId: headers.get("x-request-id") });
  if (isRedirect) {
    const what = `${status === 0 ? "" : `${summary}; `}redirects are not followed: check baseUrl`;
    return buildError(RedirectError, facts, { ...said, what });
  }
  if (status === 429) {
    const { limit, remaining, retryAfterMs } = readRateLimit(head);
    const asked = retryAfterMs === undefined ? "" : `; the service asks to wait ${seconds(retryAfterMs)}`;
    return buildError(RateLimitError, facts, { ...said, what: `${summary}${asked}`, limit, remaining, retryAfterMs });
  }
  const retryAfterMs = status === 503 ? readRetryAfter(headers) : undefined;
  const Refusal = BY_STATUS[status] ?? (status >= 500 ? ServerError : ApiError);
  return buildError(Refusal, facts, { ...said, what: `${summary}${hintOf(facts, status, code)}`, retryAfterMs });
}

function summarize(
  { redactor }: CallFacts,
  status: number,
  said: { code: string | undefined; detail: string | undefined; requestId: string | null },
): string {
  const code = said.code !== undefined && /^[\w.:-]{1,64}$/.test(said.code) ? ` ${said.code}` : "";
  const detail = said.detail === undefined ? "" : `: ${said.detail}`;
  const requestId = headerText(redactor, said.requestId);
  return `${status}${code}${detail}${requestId === undefined ? "" : ` (request ${requestId})`}`;
}

function hintOf({ operation }: CallFacts, status: number, code: string | undefined): string {
  if (status === 404 && code === undefined)
    return "; if every call ends so, baseUrl may lack its version segment, such as /api/v1";
  if (status !== 403) return "";
  const both = "both the token's scopes and its owner's permissions must allow it";
  if (operation.scope !== undefined) return `; the contract asks for ${operation.scope}: ${both}`;
  if (operation.name === "tokens.create") return "; a token can have only scopes that its creator holds";
  return `; ${both}`;
}

/** The body without secrets: redacted as a whole, and only then cut. */
function bodyOf(redactor: Redactor, text: string | undefined): unknown {
  if (text === undefined || text.trim() === "") return undefined;
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    return redactor.prose(text).slice(0, MAX_FOREIGN_TEXT);
  }
  return typeof parsed === "string" ? redactor.prose(parsed).slice(0, MAX_FOREIGN_TEXT) : redactor.json(parsed);
}

/** The service's own sentence: the body's `message`, else its `detail`. Never markup. */
function detailOf(redactor: Redactor, body: unknown): string | undefined {
  const sentence = stringField(body, "message") ?? stringField(body, "detail");
  if (sentence === undefined || /<[a-z!/]/i.test(sentence)) return undefined;
  const line = redactor.line(sentence, MAX_DETAIL);
  return line === "" ? undefined : line;
}

function stringField(body: unknown, name: string): string | undefined {
  if (typeof body !== "object" || body === null || !Object.hasOwn(body, name)) return undefined;
  const value = (body as Record<string, unknown>)[name]; // any object can be asked for a field
  return typeof value === "string" ? value : undefined;
}
