import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AutomationError } from "../../../../src/client/index.ts";
import * as sdk from "../../../../src/client/index.ts";
import { decideRetry, mayPass, type RetryContext } from "../../../../src/core/call/decide-retry.ts";
import { DEFAULT_RETRY } from "../../../../src/core/call/settings.ts";
import type { Method } from "../../../../src/core/wire/method.ts";
import { pathOf } from "../../../../src/core/wire/path.ts";
import {
  type Family,
  RETRY_ROWS,
  type Reaction,
  type RetryRow,
  RULES,
  type Rule,
} from "../../../support/retry-table.ts";

const METHODS: readonly Method[] = ["GET", "HEAD", "DELETE", "POST", "PUT", "PATCH"];

const PATH = pathOf("/x");

function context(over: Partial<RetryContext> = {}): RetryContext {
  const base: RetryContext = {
    operation: { method: "GET", path: PATH },
    rules: DEFAULT_RETRY,
    retries: 0,
    leftMs: Number.POSITIVE_INFINITY,
    random: 0.5,
  };
  return { ...base, ...over };
}

const STATUS_ERRORS = {
  api: sdk.ApiError,
  auth: sdk.AuthenticationError,
  bad_request: sdk.BadRequestError,
  conflict: sdk.ConflictError,
  not_found: sdk.NotFoundError,
  permission: sdk.PermissionDeniedError,
  redirect: sdk.RedirectError,
  server: sdk.ServerError,
} as const;

/** The error that the attempt of a row fails with. */
function errorOf({ name, rule, failure, kind, outcome }: RetryRow): AutomationError {
  const permanent = rule === RULES.permanent ? true : undefined;
  if ("rejection" in failure || "connecting" in failure) return new sdk.ConnectionError(name, { outcome, permanent });
  if ("breaks" in failure) return new sdk.ConnectionError(name, { status: 200, outcome });
  if ("stalls" in failure) {
    return new sdk.TimeoutError(name, {
      phase: failure.stalls,
      status: failure.stalls === "body" ? 200 : undefined,
      outcome,
    });
  }
  const { status, retryAfterSeconds } = failure;
  if (kind === "parse") return new sdk.ResponseParseError(name, { status, outcome });
  if (!(kind in STATUS_ERRORS)) throw new Error(`no error class for ${kind}`);
  const Class = STATUS_ERRORS[kind as keyof typeof STATUS_ERRORS]; // checked above
  return new Class(name, { status, outcome, retryAfterMs: (retryAfterSeconds ?? 0) * 1_000 || undefined });
}

interface Row {
  readonly name: string;
  readonly error: AutomationError;
  readonly reaction: Rule["reaction"];
}

const NO_RETRY = RULES.finalStatus.reaction;

/**
 * Failures that are not in the table, because the client sends nothing again after them. The rate limiter waits for a
 * 429 and the token source replaces the token after a 401, both within an attempt.
 */
const NEVER_RETRIED: readonly AutomationError[] = [
  new sdk.RateLimitError("429", { status: 429, outcome: "rejected" }),
  new sdk.RateLimitError("429 with Retry-After", { status: 429, outcome: "rejected", retryAfterMs: 5 }),
  new sdk.RateLimitError("429 with a Retry-After over the maximum", {
    status: 429,
    outcome: "rejected",
    retryAfterMs: 120_001,
  }),
  new sdk.ServerError("503 with a Retry-After over the maximum", {
    status: 503,
    outcome: "unknown",
    retryAfterMs: 120_001,
  }),
  new sdk.TimeoutError("timeout while the token is provided", { phase: "token", outcome: "not_sent" }),
  new sdk.TimeoutError("totalTimeoutMs", { phase: "total", outcome: "unknown" }),
  new sdk.TimeoutError("timeout in the queue", { phase: "queue", outcome: "not_sent" }),
  new sdk.AbortError("abort", { outcome: "unknown" }),
  new sdk.ResponseValidationError("2xx of another shape", { status: 200, outcome: "accepted" }),
  new sdk.TokenProviderError("the token provider", { outcome: "not_sent" }),
  new sdk.ArgumentError("an argument", { outcome: "not_sent" }),
  new sdk.PaginationError("a repeated cursor", { outcome: "accepted" }),
];

const rows: readonly Row[] = [
  ...RETRY_ROWS.map((row) => {
    const { name, rule } = row;
    return { name, error: errorOf(row), reaction: rule.reaction };
  }),
  ...NEVER_RETRIED.map((error) => ({ name: error.message, error, reaction: NO_RETRY })),
];

function familyOf(method: Method): Family {
  if (method === "GET" || method === "HEAD") return "safe";
  return method === "DELETE" ? "delete" : "write";
}

/** A DELETE that succeeds with its status needs no decision; if it were asked for, it would be that of a GET. */
function reactionOf(method: Method, reaction: Rule["reaction"]): Reaction {
  const own = reaction[familyOf(method)];
  return own === "succeed" ? reaction.safe : own;
}

function isRetried(error: AutomationError, over: Partial<RetryContext>): boolean {
  return decideRetry(error, context(over)) !== undefined;
}

test.each(rows)("$name", ({ error, reaction }) => {
  const retried = METHODS.filter((method) => isRetried(error, { operation: { method, path: PATH } }));
  expect(retried).toEqual(METHODS.filter((method) => reactionOf(method, reaction) === "retry"));
  // With unsafeWrites a POST is retried as a GET is, unless it was answered 2xx; a rotation is not.
  const rules = { ...DEFAULT_RETRY, unsafeWrites: true };
  const operation = { method: "POST", path: PATH } as const;
  expect(isRetried(error, { operation, rules })).toBe(error.status !== 200 && reaction.safe === "retry");
  const rotation = { ...operation, path: pathOf("/me/tokens/{id}/rotate", { id: "tok_1" }) };
  expect(isRetried(error, { operation: rotation, rules })).toBe(reaction.write === "retry");
});

test("a Retry-After that does not fit into the remaining time fails the call", () => {
  const failure = new sdk.ServerError("m", { status: 503, outcome: "unknown", retryAfterMs: 2_000 });
  expect(isRetried(failure, { leftMs: 2_000, random: 0 })).toBe(false);
  expect(isRetried(failure, { leftMs: 2_001, random: 0 })).toBe(true);
});

test.each([
  [
    new sdk.ServerError("503 with Retry-After", { status: 503, outcome: "unknown", retryAfterMs: 2_000 }),
    "unavailable",
    2_100,
  ],
  [new sdk.ServerError("503", { status: 503, outcome: "unknown" }), "server_error", 375],
  [new sdk.ConnectionError("lost", { outcome: "unknown" }), "connection", 375],
  [new sdk.TimeoutError("timeout", { phase: "headers", outcome: "unknown" }), "timeout", 375],
])("%s: the reason and the wait", (error, reason, delayMs) => {
  expect(decideRetry(error, context())).toEqual({ reason, delayMs });
});

test.each<[unknown, boolean]>([
  [new sdk.ConnectionError("lost", { outcome: "unknown" }), true],
  [new sdk.ConnectionError("no such host", { outcome: "not_sent", permanent: true }), false],
  [new sdk.ResponseParseError("a page of a proxy", { status: 200, outcome: "unknown" }), true],
  [new sdk.ResponseParseError("accepted, and cut", { status: 200, outcome: "accepted" }), false],
  [new sdk.TimeoutError("timeout", { phase: "queue", outcome: "not_sent" }), true],
  [new sdk.RateLimitError("429", { status: 429, outcome: "rejected" }), true],
  [new sdk.ServerError("503", { status: 503, outcome: "unknown" }), true],
  [new sdk.ServerError("501", { status: 501, outcome: "unknown" }), false],
  [new sdk.AbortError("abort", { outcome: "unknown" }), false],
  [new Error("of somebody else"), false],
])("%s: the reason may pass: %s", (error, passes) => {
  expect(mayPass(error)).toBe(passes);
});

describe("delays", () => {
  const lost = new sdk.ConnectionError("m", { outcome: "unknown" });
  const delayOf = (failure: AutomationError, over: Partial<RetryContext>): number => {
    const decision = decideRetry(failure, context(over));
    return decision?.delayMs ?? expect.fail("no delay");
  };
  const delay = fc.oneof(fc.double({ min: 0, max: 1e9, noNaN: true }), fc.constantFrom(0, Infinity));
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  test("a backoff doubles from minDelayMs up to maxDelayMs, times a factor between 0.5 and 1", () => {
    fc.assert(
      fc.property(
        fc.record({ minDelayMs: delay, maxDelayMs: delay }),
        fc.integer({ min: 0, max: 5_000 }),
        random,
        ({ minDelayMs, maxDelayMs }, retries, chance) => {
          const rules = { ...DEFAULT_RETRY, attempts: Infinity, minDelayMs, maxDelayMs };
          const got = delayOf(lost, { rules, retries, random: chance });
          expect(got).not.toBeNaN();
          expect(got).toBeGreaterThanOrEqual(0);
          expect(got).toBeLessThanOrEqual(maxDelayMs);
          if (retries < 20) {
            const whole = Math.min(minDelayMs * 2 ** retries, maxDelayMs);
            expect(got).toBeGreaterThanOrEqual(whole / 2);
            expect(got).toBeLessThanOrEqual(whole);
          }
        },
      ),
    );
  });

  test("the wait after a 503 is its Retry-After, lengthened by at most a tenth and at most a second; at least the backoff", () => {
    const count = fc.integer({ min: 0, max: 5 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 120_000 }), count, random, (retryAfterMs, retries, chance) => {
        const failure = new sdk.ServerError("m", { status: 503, outcome: "unknown", retryAfterMs });
        const got = delayOf(failure, { retries, random: chance });
        const backoffMs = delayOf(lost, { retries, random: chance });
        expect(got).toBeGreaterThanOrEqual(Math.max(retryAfterMs, backoffMs));
        expect(got).toBeLessThanOrEqual(Math.max(retryAfterMs + Math.min(1_000, retryAfterMs / 10), backoffMs));
      }),
    );
  });

  test.each([
    { retryAfterMs: 0, retries: 0, waitsMs: 250 },
    { retryAfterMs: 0, retries: 3, waitsMs: 2_000 },
    { retryAfterMs: 0, retries: 30, waitsMs: 4_000 },
    { retryAfterMs: 249, retries: 0, waitsMs: 250 },
    { retryAfterMs: 251, retries: 0, waitsMs: 251 },
    { retryAfterMs: 5_000, retries: 30, waitsMs: 5_000 },
    { retryAfterMs: DEFAULT_RETRY.maxRetryAfterMs, retries: 0, waitsMs: 120_000 },
  ])("503 with Retry-After $retryAfterMs ms, after $retries retries: $waitsMs ms", ({ waitsMs, ...row }) => {
    const failure = new sdk.ServerError("m", { status: 503, outcome: "unknown", retryAfterMs: row.retryAfterMs });
    expect(delayOf(failure, { retries: row.retries, random: 0 })).toBe(waitsMs);
  });

  test("a backoff that does not fit into the remaining time fails the call, however short the Retry-After", () => {
    const failure = new sdk.ServerError("m", { status: 503, outcome: "unknown", retryAfterMs: 0 });
    expect(isRetried(failure, { leftMs: 250, random: 0 })).toBe(false);
    expect(isRetried(failure, { leftMs: 251, random: 0 })).toBe(true);
  });
});
