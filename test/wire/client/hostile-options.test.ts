/** Options and arguments that throw when they are read: the error is still one of this package. */
import { expect, test } from "vitest";
import { ArgumentError, ConfigError } from "../../../src/index.ts";
import { redisRateLimiter } from "../../../src/redis/index.ts";
import { rejection } from "../../support/promises.ts";
import { openWire } from "../../support/scripted-fetch.ts";

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
  expect(() => wire.client({ token: { toCredential: 1 } as never })).toThrow(ConfigError);
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
