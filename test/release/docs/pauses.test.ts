/** The table of pauses in docs/retries.md has the lengths that the rate limiter gives them. */
import { expect, test } from "vitest";
import { pauseDuration } from "../../../src/core/rate-limit/pause.ts";
import { tableOf } from "./tables.ts";

const [asked = "", again = "", unasked = ""] = tableOf("docs/retries.md", "the 429 has").rows.map(
  ([, pause = ""]) => pause,
);

const SHORTEST = 0;
const LONGEST = 1;
const lengths = (retryAfterMs: number | undefined, random: number): number[] =>
  [1, 2, 3, 4, 5].map((inARow) => pauseDuration(retryAfterMs, inARow, random).lastsMs);

test("a Retry-After is waited out, and a little more", () => {
  const [percent = 0, seconds = 0] = (asked.match(/\d+/g) ?? []).map(Number);
  for (const askedMs of [1_000, 12_000, 60_000]) {
    expect(lengths(askedMs, SHORTEST)[0]).toBe(askedMs);
    expect(lengths(askedMs, LONGEST)[0]).toBe(askedMs + Math.min((askedMs * percent) / 100, seconds * 1_000));
  }
});

test("a Retry-After of 0 again and again", () => {
  const [ms = 0, seconds = 0] = (again.replace(/from .*? on/, "").match(/\d+/g) ?? []).map(Number);
  expect(lengths(0, SHORTEST)).toEqual([0, ms, 2 * ms, 4 * ms, 8 * ms]);
  expect(pauseDuration(0, 1_000, SHORTEST).lastsMs).toBe(seconds * 1_000);
});

test("a 429 without a Retry-After", () => {
  const [first = 0, ...numbers] = (unasked.match(/[\d.]+/g) ?? []).map(Number);
  const percent = numbers.pop() ?? 0;
  const shortest = [first, ...numbers].map((seconds) => seconds * 1_000);
  expect(lengths(undefined, SHORTEST)).toEqual(shortest);
  expect(lengths(undefined, LONGEST)).toEqual(shortest.map((ms) => ms * (1 + percent / 100)));
  const together = lengths(undefined, SHORTEST).reduce((sum, length) => sum + length);
  expect(together).toBeGreaterThan(60_000);
});
