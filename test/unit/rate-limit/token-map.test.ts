import { expect, test } from "vitest";
import { TokenMap } from "../../../src/rate-limit/token-map.ts";

interface Entry {
  readonly token: string;
  isIdle: boolean;
}

const mapOf = (isIdle: boolean) => new TokenMap<Entry>((token) => ({ token, isIdle }));

test("10 000 tokens that are used once leave a bounded number of entries, the latest among them", () => {
  const map = mapOf(true);
  for (let number = 0; number < 10_000; number += 1) map.get(`token_${number}`);
  expect(map.size).toBeLessThanOrEqual(256);
  expect(map.find("token_9999")).toBeDefined();
  expect(map.find("token_0")).toBeUndefined();
});

test("an entry that is in use is never forgotten, however many others come", () => {
  const map = mapOf(true);
  const busy = map.get("busy");
  busy.isIdle = false;
  for (let number = 0; number < 2_000; number += 1) map.get(`token_${number}`);
  expect(map.find("busy")).toBe(busy);
});

test("an entry that is used again and again outlives those that are not", () => {
  const map = mapOf(true);
  const regular = map.get("regular");
  for (let number = 0; number < 2_000; number += 1) {
    map.get(`token_${number}`);
    map.get("regular");
  }
  expect(map.find("regular")).toBe(regular);
});

test("entries that were in use are forgotten once they are idle", () => {
  const map = mapOf(false);
  const entries = Array.from({ length: 2_000 }, (_, number) => map.get(`token_${number}`));
  expect(map.size).toBe(2_000);
  for (const entry of entries) entry.isIdle = true;
  for (let number = 0; number < 2_000; number += 1) map.get(`later_${number}`).isIdle = true;
  expect(map.size).toBeLessThanOrEqual(257);
});
