/** Calls that leave the queue of one token for that of another, and keep their position. */
import { expect, test, vi } from "vitest";
import { memoryRateLimiter } from "../../../../src/client/index.ts";
import type { Permit, RateLimiter } from "../../../../src/core/rate-limit/rate-limiter.ts";
import { fakeNow, fakeTime, pass } from "../../../support/fake-time.ts";

fakeTime();

const ADMITTED = { kind: "admitted" };
const response = (status: number, retryAfterMs?: number) => ({
  status,
  retryAfterMs,
  remaining: undefined,
  limit: undefined,
});

const entering =
  (limiter: RateLimiter, maxConcurrency = 1) =>
  (signal = new AbortController().signal): Permit =>
    limiter.enter({
      service: "https://a.example/api/v1",
      ...{ maxConcurrency, maxPauses: 5, maxPauseMs: Infinity, endsAt: Infinity, timeoutMs: 30_000, signal },
    });

test("those who leave when a pause has just ended, before their timers fire, cost neither token a place", async () => {
  const enter = entering(memoryRateLimiter());
  const refused = enter();
  expect(refused.acquire("a")).toEqual(ADMITTED);
  refused.report(response(429, 1_000));
  refused.release();
  const waiting = [enter(), enter()];
  const stopped = waiting.map(async (permit) => await permit.acquire("a"));
  const clock = vi.spyOn(performance, "now").mockReturnValue(fakeNow() + 2_000);
  for (const permit of waiting) permit.release();
  const [first, second] = waiting.map((permit) => permit.acquire("b"));
  clock.mockRestore();

  // Each has its turn with its new token, in the order in which they came.
  expect(first).toEqual(ADMITTED);
  await Promise.all(stopped);
  waiting[0]?.report(response(200));
  waiting[0]?.release();
  expect(await second).toEqual(ADMITTED);
  waiting[1]?.release();
  await pass(2_000);
  expect(enter().acquire("a"), "the place at the first gate is free").toEqual(ADMITTED);
});

test("one that has been given a slot gives it up when it leaves, and keeps its position in the other queue", async () => {
  const enter = entering(memoryRateLimiter());
  const [holdsA, early, holdsB, late] = [enter(), enter(), enter(), enter()];
  void holdsA.acquire("a");
  void holdsB.acquire("b");
  const atA = early.acquire("a");
  const behind = late.acquire("b");
  holdsA.release();
  // The slot is there, and its token changes in the same turn.
  const atB = early.acquire("b");
  expect(enter().acquire("a"), "its slot is free").toEqual(ADMITTED);
  holdsB.release();
  expect(await atB, "it came before the other").toEqual(ADMITTED);
  await atA;
  early.release();
  expect(await behind).toEqual(ADMITTED);
  late.release();
});

test("one that leaves and comes back to the same queue stands once in it, where it stood", async () => {
  const enter = entering(memoryRateLimiter());
  const [holds, early, late] = [enter(), enter(), enter()];
  void holds.acquire("a");
  const before = early.acquire("a");
  const behind = late.acquire("a");
  early.release();
  const again = early.acquire("a");
  expect(await before).toEqual({ kind: "stopped" });
  holds.release();
  expect(await again).toEqual(ADMITTED);
  early.release();
  expect(await behind).toEqual(ADMITTED);
  late.release();
});
