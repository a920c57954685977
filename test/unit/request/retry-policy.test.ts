import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AutomationError } from "../../../src/index.ts";
import * as sdk from "../../../src/index.ts";
import type { Fault } from "../../../src/request/connection-fault.ts";
import type { Method } from "../../../src/request/operation.ts";
import { decideRetry, type RetryContext } from "../../../src/request/retry-policy.ts";
import { DEFAULT_RETRY } from "../../../src/request/settings.ts";

const METHODS: readonly Method[] = ["GET", "HEAD", "DELETE", "POST", "PUT", "PATCH"];

function context(over: Partial<RetryContext> = {}): RetryContext {
  const base: RetryContext = {
    operation: { method: "GET" },
    rules: DEFAULT_RETRY,
    fault: undefined,
    retries: 0,
    leftMs: Number.POSITIVE_INFINITY,
    random: 0.5,
  };
  return { ...base, ...over };
}

const ofStatus = (status: number, Class: typeof sdk.ApiError = sdk.ServerError): AutomationError =>
  new Class("m", { status, outcome: status >= 500 || status === 408 ? "unknown" : "rejected" });

/**
 * The table of the public promise, as far as p-retry is asked: failure, its fault, and whether GET, DELETE, POST are sent
 * again. A 429 and a 401 are answered within an attempt.
 */
const TABLE: readonly (readonly [string, AutomationError, Fault | undefined, string, string, string])[] = [
  ["429", new sdk.RateLimitError("m", { status: 429, outcome: "rejected" }), undefined, "no", "no", "no"],
  [
    "429 with Retry-After",
    new sdk.RateLimitError("m", { status: 429, outcome: "rejected", retryAfterMs: 5 }),
    undefined,
    "no",
    "no",
    "no",
  ],
  [
    "429 over the cap",
    new sdk.RateLimitError("m", { status: 429, outcome: "rejected", retryAfterMs: 120_001 }),
    undefined,
    "no",
    "no",
    "no",
  ],
  [
    "503 with Retry-After",
    new sdk.ServerError("m", { status: 503, outcome: "unknown", retryAfterMs: 5 }),
    undefined,
    "delay",
    "delay",
    "no",
  ],
  [
    "503 over the cap",
    new sdk.ServerError("m", { status: 503, outcome: "unknown", retryAfterMs: 120_001 }),
    undefined,
    "no",
    "no",
    "no",
  ],
  ...[408, 500, 502, 503, 504, 520, 522, 524, 529].map(
    (status) =>
      [
        `${status}`,
        ofStatus(status, status < 500 ? sdk.ApiError : sdk.ServerError),
        undefined,
        "delay",
        "delay",
        "no",
      ] as const,
  ),
  ["401", ofStatus(401, sdk.AuthenticationError), undefined, "no", "no", "no"],
  ...[400, 402, 403, 404, 405, 409, 410, 413, 414, 418, 422, 423, 425, 431, 451].map(
    (status) => [`${status}`, ofStatus(status, sdk.ApiError), undefined, "no", "no", "no"] as const,
  ),
  ...[501, 505, 506, 507, 508, 510, 511, 519, 530, 599].map(
    (status) => [`${status}`, ofStatus(status), undefined, "no", "no", "no"] as const,
  ),
  ["3xx", new sdk.RedirectError("m", { status: 302, outcome: "rejected" }), undefined, "no", "no", "no"],
  ["never connected", new sdk.ConnectionError("m", { outcome: "not_sent" }), "never_sent", "delay", "delay", "delay"],
  ["connection lost", new sdk.ConnectionError("m", { outcome: "unknown" }), "lost", "delay", "delay", "no"],
  ["a certificate", new sdk.ConnectionError("m", { outcome: "not_sent" }), "permanent", "no", "no", "no"],
  [
    "2xx, then the body is lost",
    new sdk.ConnectionError("m", { status: 200, outcome: "accepted" }),
    "lost",
    "delay",
    "delay",
    "no",
  ],
  [
    "attempt timeout, headers",
    new sdk.TimeoutError("m", { phase: "headers", outcome: "unknown" }),
    undefined,
    "delay",
    "delay",
    "no",
  ],
  [
    "attempt timeout, body",
    new sdk.TimeoutError("m", { phase: "body", outcome: "accepted" }),
    undefined,
    "delay",
    "delay",
    "no",
  ],
  [
    "attempt timeout, token",
    new sdk.TimeoutError("m", { phase: "token", outcome: "not_sent" }),
    undefined,
    "no",
    "no",
    "no",
  ],
  ["total deadline", new sdk.TimeoutError("m", { phase: "total", outcome: "unknown" }), undefined, "no", "no", "no"],
  ["in the queue", new sdk.TimeoutError("m", { phase: "queue", outcome: "not_sent" }), undefined, "no", "no", "no"],
  ["abort", new sdk.AbortError("m", { outcome: "unknown" }), undefined, "no", "no", "no"],
  [
    "2xx that does not parse",
    new sdk.ResponseParseError("m", { status: 200, outcome: "accepted" }),
    undefined,
    "no",
    "no",
    "no",
  ],
  [
    "2xx that does not validate",
    new sdk.ResponseValidationError("m", { status: 200, outcome: "accepted" }),
    undefined,
    "no",
    "no",
    "no",
  ],
  ["the provider", new sdk.TokenProviderError("m", { outcome: "not_sent" }), undefined, "no", "no", "no"],
  ["an argument", new sdk.ArgumentError("m", { outcome: "not_sent" }), undefined, "no", "no", "no"],
  ["a cycle", new sdk.PaginationError("m", { outcome: "accepted" }), undefined, "no", "no", "no"],
];

function shown(failure: AutomationError, over: Partial<RetryContext>): string {
  return decideRetry(failure, context(over)) === undefined ? "no" : "delay";
}

describe.each(TABLE)("%s", (...row) => {
  const [, failure, fault, get, remove, post] = row;
  test.each(METHODS)("%s", (method) => {
    const expected = method === "GET" || method === "HEAD" ? get : method === "DELETE" ? remove : post;
    expect(shown(failure, { operation: { method }, fault })).toBe(expected);
  });

  test("unsafeWrites lets a POST go where a GET goes, unless the service accepted it; a rotation never", () => {
    const rules = { ...DEFAULT_RETRY, unsafeWrites: true };
    const operation = { method: "POST" } as const;
    expect(shown(failure, { operation, fault, rules })).toBe(failure.outcome === "accepted" ? "no" : get);
    expect(shown(failure, { operation: { ...operation, rotatesToken: true }, fault, rules })).toBe(post);
  });
});

test("a wait that the service asks for and that does not fit into the time that is left is not begun", () => {
  const failure = new sdk.ServerError("m", { status: 503, outcome: "unknown", retryAfterMs: 2_000 });
  expect(shown(failure, { leftMs: 2_000, random: 0 })).toBe("no");
  expect(shown(failure, { leftMs: 2_001, random: 0 })).toBe("delay");
});

describe("delays", () => {
  const lost = new sdk.ConnectionError("m", { outcome: "unknown" });
  const delayOf = (failure: AutomationError, over: Partial<RetryContext>): number => {
    const decision = decideRetry(failure, context({ fault: "lost", ...over }));
    return decision?.delayMs ?? expect.fail("no delay");
  };
  const delay = fc.oneof(fc.double({ min: 0, max: 1e9, noNaN: true }), fc.constantFrom(0, Infinity));
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  test("a backoff doubles from the first up to the longest, times half to once, and is a number", () => {
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

  test("the wait that a 503 asks for is never cut, and grows by a tenth or a second at most", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 120_000 }), random, (retryAfterMs, chance) => {
        const failure = new sdk.ServerError("m", { status: 503, outcome: "unknown", retryAfterMs });
        const got = delayOf(failure, { random: chance });
        expect(got).toBeGreaterThanOrEqual(retryAfterMs);
        expect(got).toBeLessThanOrEqual(retryAfterMs + Math.min(1_000, retryAfterMs / 10));
      }),
    );
  });
});
