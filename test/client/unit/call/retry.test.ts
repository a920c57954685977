import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AutomationError } from "../../../../src/client/index.ts";
import * as sdk from "../../../../src/client/index.ts";
import { decideRetry, mayPass, type RetryContext } from "../../../../src/core/call/decide-retry.ts";
import { DEFAULT_RETRY } from "../../../../src/core/call/settings.ts";
import type { Method } from "../../../../src/core/wire/method.ts";
import { pathOf } from "../../../../src/core/wire/path.ts";

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

/** Nothing is sent again after them: the rate limiter waits for a 429 within an attempt. */
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

/** Which methods are sent again: all of them, those that may be sent twice, or none. */
type Retried = "all" | "idempotent" | "none";

/** One error of each decision. Every status and failure is in `test/client/wire/retries/retry-table.test.ts`. */
const ROWS: readonly (readonly [AutomationError, Retried])[] = [
  [new sdk.ConnectionError("no connection was made", { outcome: "not_sent" }), "all"],
  [new sdk.ConnectionError("an invalid certificate", { outcome: "not_sent", permanent: true }), "none"],
  [new sdk.ConnectionError("a lost connection", { outcome: "unknown" }), "idempotent"],
  [new sdk.ConnectionError("a lost body of a 2xx", { status: 200, outcome: "accepted" }), "idempotent"],
  [new sdk.TimeoutError("no response in time", { phase: "headers", outcome: "unknown" }), "idempotent"],
  [new sdk.TimeoutError("no body in time", { phase: "body", status: 200, outcome: "accepted" }), "idempotent"],
  [new sdk.ApiError("408", { status: 408, outcome: "unknown" }), "idempotent"],
  [new sdk.ServerError("500", { status: 500, outcome: "unknown" }), "idempotent"],
  [new sdk.ServerError("501", { status: 501, outcome: "unknown" }), "none"],
  [new sdk.ServerError("503 with Retry-After", { status: 503, outcome: "unknown", retryAfterMs: 3_000 }), "idempotent"],
  [new sdk.NotFoundError("404", { status: 404, outcome: "rejected" }), "none"],
  ...NEVER_RETRIED.map((error) => [error, "none"] as const),
];
const rows = ROWS.map(([error, retried]) => ({ name: error.message, error, retried }));

function isRetried(error: AutomationError, over: Partial<RetryContext>): boolean {
  return decideRetry(error, context(over)) !== undefined;
}

test.each(rows)("$name", ({ error, retried }) => {
  const again = { all: METHODS, idempotent: ["GET", "HEAD", "DELETE"], none: [] }[retried];
  expect(METHODS.filter((method) => isRetried(error, { operation: { method, path: PATH } }))).toEqual(again);
  // With unsafeWrites a POST is retried as a GET is, unless it was answered 2xx; a rotation is not.
  const rules = { ...DEFAULT_RETRY, unsafeWrites: true };
  const operation = { method: "POST", path: PATH } as const;
  expect(isRetried(error, { operation, rules })).toBe(error.status !== 200 && retried !== "none");
  const rotation = { ...operation, path: pathOf("/me/tokens/{id}/rotate", { id: "tok_1" }) };
  expect(isRetried(error, { operation: rotation, rules })).toBe(retried === "all");
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

  test("a backoff that does not fit into the remaining time fails the call, however short the Retry-After", () => {
    const failure = new sdk.ServerError("m", { status: 503, outcome: "unknown", retryAfterMs: 0 });
    expect(isRetried(failure, { leftMs: 250, random: 0 })).toBe(false);
    expect(isRetried(failure, { leftMs: 251, random: 0 })).toBe(true);
  });
});
