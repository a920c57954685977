/** Options and arguments of the wrong kind, or that throw when they are read: the error is one of this package. */
import { expect, test } from "vitest";
import { ApiError, ArgumentError, ConfigError } from "../../../../src/client/index.ts";
import { redisRateLimiter } from "../../../../src/redis/index.ts";
import { rejection } from "../../../support/promises.ts";
import { openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire();
const fails = (): never => {
  throw new Error("no");
};
/** Throws on every access. */
function hostile(): never {
  const traps: ProxyHandler<object> = { get: fails, has: fails, ownKeys: fails, getPrototypeOf: fails };
  return new Proxy({}, traps) as never;
}

const OPTIONS = ["baseUrl", "token", "rateLimiter", "logger", "instrumentation", "retry", "headers"] as const;

test.each(OPTIONS)("a client's %s", (name) => {
  expect(() => wire.client({ [name]: hostile() })).toThrow(ConfigError);
  expect(() => wire.client().withOptions({ [name]: hostile() })).toThrow(ConfigError);
});

test("invalid token sources", () => {
  expect(() => wire.client({ token: { createSource: 1 } as never })).toThrow(ConfigError);
});

test("the options of calls, walks and rate limiters", async () => {
  const client = wire.client();
  const calls = [
    client.tokens.rotate("t", hostile()),
    client.sessions.get("s", hostile()),
    client.sessions.waitFor("s", hostile()),
    client.projects.list(hostile()).toArray(),
    client.projects.list({}, hostile()).toArray(),
    client.projects.list().toArray(hostile()),
  ];
  for (const call of calls) expect(await rejection(call)).toBeInstanceOf(ArgumentError);
  expect(() => client.withOptions(hostile())).toThrow(ConfigError);
  expect(() => redisRateLimiter(hostile())).toThrow(ConfigError);
  expect(() => redisRateLimiter({ client: hostile() })).toThrow(ConfigError);
  expect(wire.sent).toHaveLength(0);
});

test.each([[new AbortController().signal], [new Map()], [new Headers()], [new Date()]])(
  "options that are %o are refused",
  async (options) => {
    expect(await rejection(wire.client().sessions.get("s", options as never))).toBeInstanceOf(ArgumentError);
    expect(wire.sent).toHaveLength(0);
  },
);

test("instanceof never throws", () => {
  expect((hostile() as object) instanceof ApiError).toBe(false);
});
