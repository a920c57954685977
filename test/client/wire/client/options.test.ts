import { afterEach, describe, expect, test, vi } from "vitest";
import { Client, type ClientOptions, ConfigError, memoryRateLimiter } from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { json } from "../../../support/replies.ts";
import { BASE, openWire, TOKEN } from "../../../support/scripted-fetch.ts";

const wire = openWire("msw");
const session = (): Response =>
  json({ id: "s", state: "on" }, 200, { "ratelimit-limit": "60", "ratelimit-remaining": "59" });

afterEach(() => {
  vi.unstubAllGlobals();
});

function configError(make: () => unknown): ConfigError {
  try {
    make();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ kind: "config", name: "ConfigError", outcome: "not_sent" });
    expect(wire.sent).toHaveLength(0);
    return error as ConfigError;
  }
  return expect.fail("it was expected to throw");
}

/** Invalid values of each option. */
const BAD: { readonly [Key in keyof ClientOptions]-?: readonly unknown[] } = {
  baseUrl: [
    ...[
      "",
      " ",
      "/api/v1",
      "localhost:3000",
      "//example.com/api",
      "ftp://example.com",
      "https://",
      "https:/example.com",
    ],
    ...["https://example.com/api?", "https://example.com/api#x", "https://example.com\n", "https://exa mple.com"],
    ...["https://u@example.com", "https://:p@example.com", "https:////:p@example.com/api/v1"],
    ...["https://example.com:99999", "https://example.com\\api", null, undefined, 5, {}, () => BASE],
    ...[new URL("https://example.com/?a=1"), new URL("https://u:p@example.com")],
  ],
  token: ["", "to k", "tok\u200b", "Bearer tok", null, undefined, 5, ["tok"], Symbol("t"), { createSource: 1 }],
  timeoutMs: [0, -1, Number.NaN, -Infinity, "5", true, null, {}],
  totalTimeoutMs: [0, -1, Number.NaN, "5", true, null],
  retry: [
    true,
    null,
    3,
    [],
    { attempts: 0 },
    { attempts: "3" },
    { minDelayMs: -1 },
    { unsafeWrites: null },
    { retries: 3 },
  ],
  maxConcurrency: [0, -1, 1.5, Number.NaN, "10", null, true],
  rateLimiter: [null, {}, 5, { enter: () => {} }, () => {}],
  headers: [null, 5, { Authorization: "x" }, new Headers({ authorization: "x" }), { "a b": "x" }, [["a"]]],
  fetch: [null, 42, "fetch", {}, true],
  fetchOptions: [
    ...[null, 42, "x", [], () => {}, new Map([["cache", "no-store"]]), new Request("https://x.example")],
    ...["method", "headers", "body", "signal", "redirect", "credentials"].map((name) => ({ [name]: undefined })),
  ],
  logLevel: [null, "trace", "WARN", true, 0],
  maxResponseBytes: [null, 0, -1, 1.5, Number.NaN, "1", false],
  onEvent: [null, 42, {}, "log"],
  logger: [null, 42, {}, "console", { debug() {}, info() {}, warn() {} }, { debug: 1, info: 1, warn: 1, error: 1 }],
  instrumentation: [null, 42, {}, "trace", () => {}, { begin: 1 }],
  validation: [null, "loose", true, "", "STRICT", 0],
  allowInsecureHttp: [null, "yes", 1, {}],
  ...({} as Record<never, never>),
};

describe("an invalid option is a ConfigError, and nothing is sent", () => {
  const rows = Object.entries(BAD).flatMap(([key, values]) => values.map((value) => ({ key, value })));
  test.each(rows)("$key: $value", ({ key, value }) => {
    const options = { baseUrl: BASE, token: TOKEN, [key]: value };
    expect(configError(() => new Client(options as never)).message).toMatch(new RegExp(key, "i"));
    configError(() => wire.client().withOptions({ [key]: value }));
  });

  test.each([null, 5, "x", [], true, () => {}])("the options themselves: %o", (options) => {
    configError(() => new Client(options as never));
    configError(() => wire.client().withOptions(options as never));
  });

  test("a client without new is a TypeError", () => {
    expect(() => Reflect.apply(Client as never, undefined, [{ baseUrl: BASE, token: TOKEN }])).toThrow(TypeError);
  });
});

describe("valid options", () => {
  const GOOD: readonly ClientOptions[] = [
    { timeoutMs: false, totalTimeoutMs: false, retry: false },
    { timeoutMs: Number.POSITIVE_INFINITY, totalTimeoutMs: Number.POSITIVE_INFINITY },
    { timeoutMs: 2 ** 31, totalTimeoutMs: 1e12 },
    { timeoutMs: 1e300, totalTimeoutMs: Number.MAX_VALUE },
    { retry: { attempts: 1, minDelayMs: 0, maxDelayMs: 0, rateLimitWaits: 0, maxRetryAfterMs: 0, unsafeWrites: true } },
    { retry: {}, maxConcurrency: 1 },
    { maxConcurrency: Number.POSITIVE_INFINITY, rateLimiter: memoryRateLimiter() },
    { headers: [["x-a", "1"]], validation: "lenient", allowInsecureHttp: true },
    { headers: new Headers({ "x-a": "1" }), logger: { debug() {}, info() {}, warn() {}, error() {} }, onEvent() {} },
    { headers: { "x-a": "1" }, baseUrl: new URL(BASE), validation: "strict", allowInsecureHttp: false },
    Object.fromEntries(
      Object.keys(BAD).flatMap((key) => (key === "baseUrl" || key === "token" ? [] : [[key, undefined]])),
    ),
  ];

  test.each(GOOD)("%o", async (options) => {
    wire.script(session());
    const client = wire.client({ ...options, baseUrl: options.baseUrl ?? BASE, token: TOKEN });
    expect(await client.sessions.get("s")).toEqual({ id: "s", state: "on" });
    expect(wire.sent[0]?.headers.get("x-a")).toBe(options.headers === undefined ? null : "1");
  });

  test("frozen options are accepted, and later changes of options have no effect", async () => {
    wire.reply(session);
    const headers = { "x-a": "1" };
    const retry = { attempts: 1 };
    const options: ClientOptions = { baseUrl: BASE, token: TOKEN, headers, retry, validation: "strict" };
    const client = new Client(options);
    Object.assign(options, { baseUrl: "https://other.example.com", token: "other", fetch: 5, validation: "lenient" });
    headers["x-a"] = "2";
    retry.attempts = 9;
    await client.sessions.get("s");
    expect(wire.sent[0]).toMatchObject({ path: "/sessions/s" });
    expect(wire.sent[0]?.headers.get("authorization")).toBe(`Bearer ${TOKEN}`);
    expect(wire.sent[0]?.headers.get("x-a")).toBe("1");
    wire.reply(() => json({}, 500));
    expect(await rejection(client.sessions.get("s"))).toMatchObject({ attempts: 1 });
    new Client(Object.freeze({ baseUrl: BASE, token: TOKEN, retry: Object.freeze({}) }));
  });

  test("slashes at the end of an address are left out, and those within it stay", () => {
    const address = `${BASE}//x`;
    expect(new Client({ baseUrl: `${address}///`, token: TOKEN }).baseUrl).toBe(address);
  });

  test("plain http is accepted for this machine, or with allowInsecureHttp", () => {
    for (const host of ["localhost", "localhost:8080", "127.0.0.1", "127.8.8.8:1", "[::1]:3000", "app.localhost"]) {
      new Client({ baseUrl: `http://${host}/api/v1`, token: TOKEN });
    }
    for (const host of [
      "example.com",
      "127.0.0.1.example.com",
      "localhost.example.com",
      "10.0.0.1",
      "[::2]",
      "0.0.0.0",
      "127.0.0.1.nip.io",
    ]) {
      const baseUrl = `http://${host}/api/v1`;
      configError(() => new Client({ baseUrl, token: TOKEN }));
      configError(() => new Client({ baseUrl, token: TOKEN, allowInsecureHttp: false }));
      new Client({ baseUrl, token: TOKEN, allowInsecureHttp: true });
    }
    configError(() => wire.client().withOptions({ baseUrl: "http://example.com", token: "t" }));
  });
});

describe("fetch", () => {
  test("is called without a this", async () => {
    const receivers: unknown[] = [];
    function strict(this: unknown): Promise<Response> {
      receivers.push(this);
      return Promise.resolve(session());
    }
    await wire.client({ fetch: strict }).sessions.get("s");
    expect(receivers).toEqual([undefined]);
  });
});
