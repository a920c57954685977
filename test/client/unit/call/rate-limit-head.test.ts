import { expect, test } from "vitest";
import { parseRateLimitHead } from "../../../../src/core/wire/head.ts";

test.each([
  ["100", 100],
  ["100, 100;w=60", 100],
  ["7;w=60", 7],
  ["1.5", 1],
  ["-5", undefined],
  ["abc", undefined],
  ["9".repeat(40), undefined],
  ["", undefined],
])("RateLimit-Limit and RateLimit-Remaining of %j are %j", (value, number) => {
  const headers = new Headers({ "ratelimit-limit": value, "ratelimit-remaining": value });
  expect(parseRateLimitHead({ status: 200, headers })).toMatchObject({ limit: number, remaining: number });
});
