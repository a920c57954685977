/** Calls that wait at the gate of a token while their token changes. */
import { expect, test, vi } from "vitest";
import { memoryRateLimiter } from "../../../src/index.ts";
import type { Admission, Permit } from "../../../src/rate-limit/rate-limiter.ts";
import { fakeTime, pass } from "../../support/fake-time.ts";

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
  expect(refused.acquire()).toEqual({ kind: "admitted" });
  expect(refused.confirm("a")).toBe(true);
  refused.report(response(429, 1_000));
  refused.release();
  const waiting = [enter(), enter()];
  const admissions = waiting.map((permit) => permit.acquire() as Promise<Admission>); // they have to wait
  const endOfPause = performance.now() + 2_000;
  const clock = vi.spyOn(performance, "now").mockReturnValue(endOfPause);
  token = "b";
  limiter.refresh();
  clock.mockRestore();
  await pass(2_000);

  // Each takes its turn with its new token.
  for (const [index, permit] of waiting.entries()) {
    await admissions[index];
    if (permit.confirm("b") === false) {
      expect(await permit.acquire()).toEqual({ kind: "admitted" });
      expect(permit.confirm("b")).toBe(true);
    }
    permit.report(response(200));
    permit.release();
  }

  token = "a";
  const next = enter();
  expect(next.acquire(), "the place at the first gate is free").toEqual({ kind: "admitted" });
  next.release();
});
