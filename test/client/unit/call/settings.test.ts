import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ArgumentError, type CallOptions } from "../../../../src/client/index.ts";
import { DEFAULT_RETRY, mergeSettings, parseCallOptions, type Settings } from "../../../../src/core/call/settings.ts";
import { BOOLEAN } from "../../../../src/core/checks/validators.ts";
import { asErrorClass } from "../../../../src/core/errors/as-error-class.ts";

type CallSettings = Pick<Settings, keyof CallOptions>;

const client: CallSettings = {
  timeoutMs: 30_000,
  totalTimeoutMs: Infinity,
  retry: DEFAULT_RETRY,
  headers: { accept: "application/json", "x-a": "1" },
};

/** Options as a method takes them. */
const read = (options?: CallOptions): ReturnType<typeof parseCallOptions> => parseCallOptions(options);
const settings = (options?: CallOptions): CallSettings => ({ ...client, ...mergeSettings(read(options), client) });

function problemOf(options: unknown): string {
  try {
    asErrorClass(ArgumentError, () => read(options as CallOptions));
  } catch (error) {
    return (error as Error).message;
  }
  return expect.fail("it was expected to be refused");
}

test("a call without options uses the settings of its client", () => {
  for (const options of [undefined, {}, { timeoutMs: undefined, retry: undefined, headers: undefined }]) {
    expect(settings(options)).toEqual(client);
  }
});

test("the options of a call are laid over those of its client", () => {
  const { signal } = new AbortController();
  const onResponse = (): void => {};
  const options: CallOptions = { signal, onResponse, timeoutMs: false, totalTimeoutMs: 5, retry: { attempts: 9 } };
  expect(settings({ ...options, headers: { "X-A": "2", "x-b": "3" } })).toEqual({
    signal,
    onResponse: expect.any(Function),
    timeoutMs: Infinity,
    totalTimeoutMs: 5,
    retry: { ...DEFAULT_RETRY, attempts: 9 },
    headers: { accept: "application/json", "x-a": "2", "x-b": "3" },
  });
});

test("what was read does not change with what was given", () => {
  const options = { timeoutMs: 5, retry: { attempts: 1 }, headers: { "X-A": "1" } };
  const checked = read(options);
  options.timeoutMs = 6;
  options.retry.attempts = 2;
  options.headers["X-A"] = "2";
  expect({ ...checked, retry: { ...(checked.retry || {}) } }).toEqual({
    timeoutMs: 5,
    retry: { attempts: 1 },
    headers: { "x-a": "1" },
  });
});

test("options of the method alone are read with the others", () => {
  const parsed = parseCallOptions({ adopt: true, timeoutMs: 5 }, { adopt: BOOLEAN });
  expect(parsed).toEqual({ adopt: true, timeoutMs: 5 });
});

describe("retry", () => {
  const over = (retry: CallOptions["retry"], base: CallOptions["retry"]): unknown =>
    mergeSettings(read({ retry }), mergeSettings(read({ retry: base }), client)).retry;

  test("the defaults of the promise", () => {
    expect(DEFAULT_RETRY).toEqual({
      attempts: 3,
      rateLimitWaits: 5,
      maxRetryAfterMs: 120_000,
      unsafeWrites: false,
    });
    expect(over(undefined, undefined)).toEqual(DEFAULT_RETRY);
    expect(over({}, undefined)).toEqual(DEFAULT_RETRY);
    expect(over(false, { attempts: 9 })).toBe(false);
    expect(over(undefined, false)).toBe(false);
    expect(over({ attempts: 9 }, false)).toEqual({ ...DEFAULT_RETRY, attempts: 9 });
  });

  test("any rules over any others: defined values replace, undefined ones do not", () => {
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
      fc.property(rules, rules, (under, upper) => {
        const expected = { ...DEFAULT_RETRY, ...under, ...upper };
        const { minDelayMs = 0, maxDelayMs = Infinity } = expected;
        fc.pre(minDelayMs <= maxDelayMs && (under.minDelayMs ?? 0) <= (under.maxDelayMs ?? Infinity));
        const withUndefined = Object.fromEntries(Object.keys(DEFAULT_RETRY).map((key) => [key, undefined]));
        expect(over(upper, under)).toEqual(expected);
        expect(over({ ...withUndefined, ...upper }, under)).toEqual(expected);
      }),
    );
  });
});

describe("the first and the longest backoff", () => {
  const merge = (...layers: readonly CallOptions["retry"][]): string => {
    try {
      asErrorClass(ArgumentError, () => {
        layers.reduce<CallSettings>((base, retry) => mergeSettings(read({ retry }), base), client);
      });
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };

  const above = (first: number, longest: number): string =>
    `retry.minDelayMs (${first}) must not be above retry.maxDelayMs (${longest})`;
  test.each<readonly [problem: string, layers: readonly CallOptions["retry"][]]>([
    ["", [{ minDelayMs: 60_000 }]],
    ["", [{ maxDelayMs: 10 }]],
    ["", [{ minDelayMs: 5, maxDelayMs: 5 }]],
    ["", [{ minDelayMs: 60_000 }, { minDelayMs: 5 }, { maxDelayMs: 10 }]],
    [above(5_000, 1_000), [{ minDelayMs: 5_000, maxDelayMs: 1_000 }]],
    [above(5_000, 1_000), [{ maxDelayMs: 1_000 }, { minDelayMs: 5_000 }]],
    [above(5_000, 0), [{ minDelayMs: 5_000 }, { maxDelayMs: 0 }]],
  ])("%j: of %j, each laid over the one before", (problem, layers) => {
    expect(merge(...layers)).toBe(problem);
  });
});

describe("headers", () => {
  const headersOf = (headers: unknown): unknown => read({ headers: headers as Headers }).headers;

  test("become a record of lower-case names, from any HeadersInit", () => {
    const expected = { "x-a": "1, 2", "x-b": "" };
    const pairs = [
      ["x-a", "1"],
      ["X-A", "2"],
      ["x-b", ""],
    ];
    for (const given of [
      { "X-A": "1, 2", "x-b": "" },
      pairs,
      new Headers(expected),
      new Map(Object.entries(expected)),
    ]) {
      expect(headersOf(given)).toEqual(expected);
    }
  });

  test.each<[string, unknown]>([
    ["a promise", Promise.resolve({ "x-a": "1" })],
    ["a date", new Date()],
    ["a URL", new URL("https://a.example/")],
    ["an object of a class", new (class Tenant {})()],
    ["a function as a value", { "x-a": () => "1" }],
  ])("are refused where they would be lost: %s", (_, given) => {
    expect(() => headersOf(given)).toThrow(/headers (must be a HeadersInit|has a name or value)/);
  });

  test("of undefined are none", () => {
    expect(headersOf({ "x-a": undefined, "x-b": "" })).toEqual({ "x-b": "" });
    expect(headersOf([["x-a", undefined]])).toEqual({});
  });

  test.each([
    "authorization",
    "Authorization",
    "COOKIE",
    "Host",
    "Content-Length",
    "transfer-encoding",
    "Connection",
    "expect",
  ])("%s is no caller's, and the reason is told", (name) => {
    expect(problemOf({ headers: { [name]: "secret-value" } })).toBe(
      `headers must not set ${name}: the client decides it`,
    );
  });

  test.each<[unknown, string]>([
    [{ "x-a": null }, '"x-a"'],
    [{ "x-a": {} }, '"x-a"'],
    [[["x-a", ["1", "2"]]], '"x-a"'],
    [{ ok: "1", "x-b": "secret\r\nx: y" }, '"x-b"'],
    [{ "x-ü": "1" }, '"x-ü"'],
    [{ "x-a": "ü\u0100" }, '"x-a"'],
    [[["a b", "1"]], '"a b"'],
  ])("which one is not allowed is named, and its value is not: %o", (given, name) => {
    const problem = problemOf({ headers: given });
    expect(problem).toBe(`headers has a name or value that is not allowed in an HTTP header: ${name}`);
    expect(problem).not.toContain("secret");
  });

  test.each([[["a"]], [[["a"]]], ["ab"], [[["a", "b", "c"]]]])("%j are no headers", (given) => {
    expect(problemOf({ headers: given })).toMatch(/^(?:headers|options.headers) must be /);
  });
});
