import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { Client, ConfigError } from "../../src/client/index.ts";
import { type RedisRateLimiterOptions, redisRateLimiter } from "../../src/redis/index.ts";

const client = { isOpen: true, eval: async () => [] };

describe("invalid options", () => {
  const wrong: readonly [string, unknown, RegExp][] = [
    ["none", undefined, /options\.client must be a client of ioredis or of redis/],
    ["no client", {}, /options\.client must be a client of ioredis or of redis/],
    ["null", { client: null }, /options\.client must be/],
    ["a URL", { client: "redis://localhost" }, /options\.client must be/],
    ["a client of another kind", { client: { get: () => "", set: () => "" } }, /options\.client must be/],
    ["one that only evaluates", { client: { eval: () => 1 } }, /options\.client must be/],
    [
      "a client of Redis in the place of options",
      new (class Redis {
        readonly isOpen = true;
        eval(): void {}
      })(),
      /options must be a plain object such as \{ client \}, not an instance of Redis/,
    ],
    [
      "a client of the service in the place of options",
      new Client({ baseUrl: "https://automation.example.com/api/v1", token: "t" }),
      /options must be a plain object such as \{ client \}, not an instance of Client/,
    ],
    ["an empty namespace", { client, namespace: "" }, /options\.namespace must be 1 to 100 letters/],
    ["a namespace with braces", { client, namespace: "a{b}" }, /options\.namespace must be/],
    ["no time", { client, commandTimeoutMs: 0 }, /options\.commandTimeoutMs must be a number of milliseconds above 0/],
    ["a lease that runs out on the way", { client, leaseMs: 10 }, /options\.leaseMs must be .* from 500/],
    ["a lease forever", { client, leaseMs: Number.POSITIVE_INFINITY }, /options\.leaseMs must be/],
    ["a listener that is none", { client, onEvent: true }, /options\.onEvent must be a function/],
    [
      "a misspelt one",
      { client, nameSpace: "a" },
      /unknown key "nameSpace" \(did you mean "namespace"\?\); accepted: client, namespace/,
    ],
  ];
  test.each(wrong)("%s", (_, options, message) => {
    const make = (): unknown => redisRateLimiter(options as RedisRateLimiterOptions); // the test passes invalid ones on purpose
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(message);
  });
});

test("both kinds of clients are accepted, and no command is sent at first", () => {
  const never = (): never => {
    throw new Error("asked");
  };
  redisRateLimiter({ client: { isOpen: false, eval: never } });
  redisRateLimiter({ client: { defineCommand: never, eval: never } });
});

test("the limiters of one client of Redis hear its errors by one listener", () => {
  const client = Object.assign(new EventEmitter(), { isOpen: false, eval: () => Promise.reject(new Error("asked")) });
  for (let limiters = 0; limiters < 12; limiters += 1) redisRateLimiter({ client });
  expect(client.listenerCount("error")).toBe(1);
  expect(client.emit("error", new Error("lost"))).toBe(true);
});
