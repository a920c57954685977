/** Calls that wait at the gate of a token while their token changes. */
import { expect, test, vi } from "vitest";
import { memoryRateLimiter } from "../../../../src/client/index.ts";
import type { Permit } from "../../../../src/client/rate-limit/rate-limiter.ts";
import { fakeTime, pass } from "../../../support/fake-time.ts";

fakeTime();

const response = (status: number, retryAfterMs?: number) => ({
  status,
  retryAfterMs,
  remaining: undefined,
  limit: undefined,
});

test("a token that changes when a pause has just ended, before its timer fires, costs neither token a place", async () => {
  const limiter = memoryRateLimiter();
  let token = "a";
  const enter = (): Permit =>
    limiter.enter({
      token: () => token,
      maxConcurrency: 1,
      maxPauses: 5,
      maxPauseMs: Infinity,
      endsAt: Infinity,
      signal: new AbortController().signal,
    });
  const refused = enter();
  expect(refused.acquire("a")).toEqual({ kind: "admitted", waited: false });
  refused.report(response(429, 1_000));
  refused.release();
  const waiting = [enter(), enter()];
  const admissions = waiting.map(async (permit) => await permit.acquire("a"));
  const endOfPause = performance.now() + 2_000;
  const clock = vi.spyOn(performance, "now").mockReturnValue(endOfPause);
  token = "b";
  limiter.refresh();
  clock.mockRestore();
  expect(await Promise.all(admissions)).toEqual([{ kind: "moved" }, { kind: "moved" }]);
  await pass(2_000);

  // Each has its turn with its new token, in the order in which they came.
  const [first, second] = waiting.map((permit) => permit.acquire("b"));
  expect(first).toEqual({ kind: "admitted", waited: false });
  waiting[0]?.report(response(200));
  waiting[0]?.release();
  expect(await second).toEqual({ kind: "admitted", waited: true });
  waiting[1]?.release();

  expect(enter().acquire("a"), "the place at the first gate is free").toEqual({ kind: "admitted", waited: false });
});

test("a call that has another token after a wait gives up its slot, and keeps its place at the other gate", async () => {
  const limiter = memoryRateLimiter();
  const enter = (): Permit =>
    limiter.enter({
      token: () => "a",
      maxConcurrency: 1,
      maxPauses: 5,
      maxPauseMs: Infinity,
      endsAt: Infinity,
      signal: new AbortController().signal,
    });
  const [holdsA, early, holdsB, late] = [enter(), enter(), enter(), enter()];
  void holdsA.acquire("a");
  void holdsB.acquire("b");
  const atA = early.acquire("a");
  const behind = late.acquire("b");
  holdsA.release();
  expect(await atA).toEqual({ kind: "admitted", waited: true });
  const atB = early.acquire("b");
  expect(enter().acquire("a"), "its slot is free").toEqual({ kind: "admitted", waited: false });
  holdsB.release();
  expect(await atB, "it came before the other").toEqual({ kind: "admitted", waited: true });
  early.release();
  expect(await behind).toEqual({ kind: "admitted", waited: true });
  late.release();
});

test("a permit that acquires with another token while it still waits blocks nothing", async () => {
  const limiter = memoryRateLimiter();
  const enter = (): Permit =>
    limiter.enter({
      token: () => "a",
      maxConcurrency: 2,
      maxPauses: 5,
      maxPauseMs: Infinity,
      endsAt: Infinity,
      signal: new AbortController().signal,
    });
  const [first, second, hasty, next] = [enter(), enter(), enter(), enter()];
  for (const permit of [first, second]) expect(permit.acquire("a")).toEqual({ kind: "admitted", waited: false });
  void hasty.acquire("a");
  expect(hasty.acquire("b")).toEqual({ kind: "admitted", waited: false });
  const waiting = next.acquire("a");
  first.release();
  second.release();
  expect(await waiting).toEqual({ kind: "admitted", waited: true });
});
