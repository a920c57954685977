import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../../src/index.ts";
import { DEFAULT_RETRY, millisecondsOf, SettingsCheck } from "../../../src/request/settings.ts";

const check = new SettingsCheck(ConfigError);

test("the milliseconds of a timeout", () => {
  expect([5, false as const, Infinity, undefined].map((timeout) => millisecondsOf(timeout))).toEqual([
    5,
    Infinity,
    Infinity,
    undefined,
  ]);
});

describe("retry", () => {
  test("the defaults of the promise", () => {
    expect(DEFAULT_RETRY).toEqual({
      attempts: 3,
      minDelayMs: 500,
      maxDelayMs: 8_000,
      rateLimitWaits: 5,
      maxRetryAfterMs: 120_000,
      unsafeWrites: false,
    });
    expect(check.retry(undefined, DEFAULT_RETRY)).toEqual(DEFAULT_RETRY);
    expect(check.retry({}, DEFAULT_RETRY)).toEqual(DEFAULT_RETRY);
    expect(check.retry(false, { ...DEFAULT_RETRY, attempts: 9 })).toBe(false);
    expect(check.retry(undefined, false)).toBe(false);
    expect(check.retry({ attempts: 9 }, false)).toEqual({ ...DEFAULT_RETRY, attempts: 9 });
  });

  test("any rules merged with any others: defined values replace, undefined ones do not", () => {
    const rules = fc.record(
      {
        attempts: fc.oneof(fc.integer({ min: 1 }), fc.constant(Infinity)),
        minDelayMs: fc.double({ min: 0, noNaN: true }),
        maxDelayMs: fc.double({ min: 0, noNaN: true }),
        rateLimitWaits: fc.nat(),
        maxRetryAfterMs: fc.double({ min: 0, noNaN: true }),
        unsafeWrites: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(rules, rules, (under, over) => {
        const base = check.retry(under, DEFAULT_RETRY);
        const withUndefined = {
          ...Object.fromEntries(Object.keys(DEFAULT_RETRY).map((key) => [key, undefined])),
          ...over,
        };
        expect(check.retry(over, base)).toEqual({ ...base, ...over });
        expect(check.retry(withUndefined, base)).toEqual({ ...base, ...over });
      }),
    );
  });
});

describe("headers", () => {
  test("become a record of lower-case names, from any HeadersInit", () => {
    const expected = { "x-a": "1, 2", "x-b": "" };
    expect(check.headers({ "X-A": "1, 2", "x-b": "" })).toEqual(expected);
    expect(
      check.headers([
        ["x-a", "1"],
        ["X-A", "2"],
        ["x-b", ""],
      ]),
    ).toEqual(expected);
    expect(check.headers(new Headers(expected))).toEqual(expected);
    expect(
      check.headers(
        new Map([
          ["x-a", "1, 2"],
          ["x-b", ""],
        ]) as never,
      ),
    ).toEqual(expected);
    expect(check.headers({ "x-a": undefined, "x-b": "" } as never)).toEqual({ "x-b": "" });
    expect(check.headers(undefined)).toEqual({});
  });

  test.each(["authorization", "Authorization", "COOKIE", "host", "Host"])("%s is the client's", (name) => {
    expect(() => check.headers({ [name]: "secret-value" })).toThrow(new RegExp(name, "i"));
    expect(() => check.headers({ [name]: "secret-value" })).not.toThrow(/secret-value/);
  });
});
