/**
 * The retry table, as data. `scripts/generated-pages.ts` prints it in `docs/retries.md`. A test runs it through a scripted
 * `fetch` (`test/client/wire/retries/retry-table.test.ts`). It imports nothing of a platform, so that it runs everywhere.
 */
import type { AnyAutomationError, Outcome } from "../../src/client/index.ts";
import { fetchFailed } from "./fetch-errors.ts";

type ErrorKind = AnyAutomationError["kind"];

/** `safe`: GET and HEAD. `write`: POST, PUT and PATCH. */
export type Family = "safe" | "delete" | "write";

/** What the client does with a call whose attempt failed. */
export type Reaction = "retry" | "fail" | "succeed";

/** What passes before the next attempt. */
export type Wait = "backoff" | "retry_after" | "pause" | "none";

/** One rule: what the client does, and the error of the call if every attempt fails. */
export interface Rule {
  /** The first cell of its row in the document. Two rules may share a row. */
  readonly documented: string;
  readonly reaction: Readonly<Record<Family, Reaction>>;
  /** The reaction to a write with `unsafeWrites`, unless it rotates a token. */
  readonly unsafeWrite: Reaction;
  readonly wait: Wait;
  readonly kind: ErrorKind;
  readonly outcome: Outcome;
}

const EVERY_METHOD = { safe: "retry", delete: "retry", write: "retry" } as const;
const IDEMPOTENT = { safe: "retry", delete: "retry", write: "fail" } as const;
const NO_METHOD = { safe: "fail", delete: "fail", write: "fail" } as const;
const AFTER_SUCCESS = { safe: "retry", delete: "succeed", write: "fail" } as const;
const UNREADABLE = { safe: "fail", delete: "succeed", write: "fail" } as const;

const LOST = "the connection was lost, or the attempt reached `timeoutMs`";
const BODY_LOST = "2xx, and then the body was lost";
const UNUSABLE = "2xx without a body, or with JSON that is cut or of another shape";
const OF_ANOTHER = "2xx with a page or words in the place of JSON";
const STOPPED = "your signal, or `totalTimeoutMs`";

type Rest = readonly [unsafeWrite: Reaction, wait: Wait, kind: ErrorKind, outcome: Outcome];

function define(documented: string, reaction: Rule["reaction"], rest: Rest): Rule {
  const [unsafeWrite, wait, kind, outcome] = rest;
  return { documented, reaction, unsafeWrite, wait, kind, outcome };
}

export const RULES = {
  rateLimited: define("429, whatever its body", EVERY_METHOD, ["retry", "pause", "rate_limit", "rejected"]),
  transientStatus: define("408, 500, 502, 503, 504, 520 to 529", IDEMPOTENT, ["retry", "backoff", "server", "unknown"]),
  unavailable: define("one of these with a `Retry-After`", IDEMPOTENT, ["retry", "retry_after", "server", "unknown"]),
  otherToken: define("401, and another token is available", EVERY_METHOD, ["retry", "none", "auth", "rejected"]),
  finalStatus: define("any other 4xx or 5xx, any 3xx", NO_METHOD, ["fail", "none", "api", "rejected"]),
  noConnection: define("no connection was made, as Node shows", EVERY_METHOD, [
    "retry",
    "backoff",
    "connection",
    "not_sent",
  ]),
  connectionLost: define(LOST, IDEMPOTENT, ["retry", "backoff", "connection", "unknown"]),
  attemptTimeout: define(LOST, IDEMPOTENT, ["retry", "backoff", "timeout", "unknown"]),
  permanent: define("an invalid certificate, scheme or header", NO_METHOD, ["fail", "none", "connection", "not_sent"]),
  bodyLost: define(BODY_LOST, AFTER_SUCCESS, ["fail", "backoff", "connection", "accepted"]),
  bodyLostEarly: define(BODY_LOST, AFTER_SUCCESS, ["fail", "backoff", "connection", "unknown"]),
  bodyTimeout: define(BODY_LOST, AFTER_SUCCESS, ["fail", "backoff", "timeout", "accepted"]),
  bodyTimeoutEarly: define(BODY_LOST, AFTER_SUCCESS, ["fail", "backoff", "timeout", "unknown"]),
  noBody: define(UNUSABLE, UNREADABLE, ["fail", "none", "parse", "unknown"]),
  notJson: define(UNUSABLE, UNREADABLE, ["fail", "none", "parse", "accepted"]),
  otherShape: define(UNUSABLE, UNREADABLE, ["fail", "none", "validation", "accepted"]),
  page: define(OF_ANOTHER, NO_METHOD, ["fail", "none", "parse", "unknown"]),
  aborted: define(STOPPED, NO_METHOD, ["fail", "none", "abort", "unknown"]),
  totalTimeout: define(STOPPED, NO_METHOD, ["fail", "none", "timeout", "unknown"]),
} as const satisfies Readonly<Record<string, Rule>>;

/** What happens to an attempt: the service responds, `fetch` rejects, or the response never ends. */
export type Failure =
  | { readonly status: number; readonly retryAfterSeconds?: number; readonly body?: string }
  | { readonly rejection: () => unknown }
  /** The connection fails with this code, as the platform shows. */
  | { readonly connecting: string }
  | { readonly stalls: "headers" }
  /** `first`: the part of the body that came before. */
  | { readonly stalls: "body"; readonly first: string }
  | { readonly breaks: "body"; readonly first: string };

/** One failure under its rule, with the kind and outcome of the error that the caller gets. */
export interface RetryRow {
  readonly name: string;
  readonly rule: Rule;
  readonly failure: Failure;
  readonly kind: ErrorKind;
  readonly outcome: Outcome;
}

/** Statuses and the kind of their error. Each is final and bears a `Retry-After`, which changes nothing. */
const REJECTED: readonly (readonly [kind: ErrorKind, statuses: readonly number[]])[] = [
  ["api", [402, 405, 410, 413, 414, 418, 423, 425, 428, 431, 451]],
  ["bad_request", [400, 422]],
  ["permission", [403]],
  ["not_found", [404]],
  ["conflict", [409]],
  ["auth", [401]],
];
const REDIRECTS = [300, 301, 302, 303, 304, 307, 308];
const FINAL_SERVER_ERRORS = [501, 505, 506, 507, 508, 510, 511, 519, 530, 599];
const TRANSIENT = [408, 500, 502, 503, 504, 520, 522, 524, 529];
/** Also words that a connection was refused: they are no evidence. */
const CONNECTION_LOST = ["ECONNRESET", "ECONNREFUSED"];

type Overrides = Partial<Pick<RetryRow, "kind" | "outcome">>;

/** A row under a rule, with the rule's kind and outcome unless others are passed. */
function row(rule: Rule, [name, failure]: readonly [string, Failure], overrides: Overrides = {}): RetryRow {
  return { name, rule, failure, kind: rule.kind, outcome: rule.outcome, ...overrides };
}

const finalRow = (status: number, overrides: Overrides): RetryRow =>
  row(RULES.finalStatus, [String(status), { status, retryAfterSeconds: 1 }], overrides);
const rejecting = (rule: Rule, name: string, rejection: () => unknown): RetryRow => row(rule, [name, { rejection }]);
const connecting = (rule: Rule, code: string): RetryRow =>
  row(rule, [`${code} while connecting`, { connecting: code }]);

/** Every failure that a `fetch` can show, except a 429 and a 401 with another token, which have waits of their own. */
export const RETRY_ROWS: readonly RetryRow[] = [
  ...TRANSIENT.flatMap((status) => {
    const kind = status < 500 ? "api" : "server";
    return [
      row(RULES.transientStatus, [String(status), { status }], { kind }),
      row(RULES.unavailable, [`${status} with Retry-After`, { status, retryAfterSeconds: 3 }], { kind }),
    ];
  }),
  ...REJECTED.flatMap(([kind, statuses]) => statuses.map((status) => finalRow(status, { kind }))),
  ...REDIRECTS.map((status) => finalRow(status, { kind: "redirect", outcome: "unknown" })),
  ...FINAL_SERVER_ERRORS.map((status) => finalRow(status, { kind: "server", outcome: "unknown" })),
  connecting(RULES.noConnection, "ECONNREFUSED"),
  ...CONNECTION_LOST.map((code) => rejecting(RULES.connectionLost, code, () => fetchFailed(code))),
  rejecting(RULES.connectionLost, "a browser's: Failed to fetch", () => new TypeError("Failed to fetch")),
  // Safari's network errors have no stack; the client recognizes them by that.
  rejecting(RULES.connectionLost, "a browser's: Load failed", () =>
    Object.assign(new TypeError("Load failed"), { stack: undefined }),
  ),
  connecting(RULES.permanent, "CERT_HAS_EXPIRED"),
  rejecting(RULES.connectionLost, "a string", () => "no"),
  rejecting(RULES.connectionLost, "a TypeError of other code", () => new TypeError("x is not a function")),
  row(RULES.attemptTimeout, ["attempt timeout", { stalls: "headers" }]),
  row(RULES.bodyLost, ["body lost", { breaks: "body", first: '{"id":' }]),
  row(RULES.bodyLostEarly, ["body lost before it begins", { breaks: "body", first: "" }]),
  row(RULES.bodyLostEarly, ["body lost behind white space", { breaks: "body", first: " \n" }]),
  row(RULES.bodyTimeout, ["body stalled", { stalls: "body", first: '{"id":' }]),
  row(RULES.bodyTimeoutEarly, ["body stalled before it begins", { stalls: "body", first: "" }]),
  row(RULES.noBody, ["2xx without a body", { status: 200, body: "" }]),
  row(RULES.notJson, ["2xx with cut JSON", { status: 200, body: '{"id":' }]),
  row(RULES.page, ["2xx with a page", { status: 200, body: "<p>" }]),
  row(RULES.page, ["2xx with words", { status: 200, body: "OK" }]),
];

/** The outcome of a call of this family: a read changes nothing, and nobody watches how it leaves. */
export function outcomeFor(family: Family, outcome: Outcome): Outcome | undefined {
  return family === "safe" && (outcome === "unknown" || outcome === "not_sent") ? undefined : outcome;
}

/** The reaction to a failure of a call. */
export function reactionTo(rule: Rule, family: Family, settings: { readonly unsafeWrites: boolean }): Reaction {
  return settings.unsafeWrites && family === "write" ? rule.unsafeWrite : rule.reaction[family];
}
