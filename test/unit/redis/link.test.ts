/** What a process does when Redis says nothing, or nonsense, without one. */
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Permit } from "../../../src/rate-limit/rate-limiter.ts";
import { type FleetEvent, redisRateLimiter } from "../../../src/redis/index.ts";

const TOKEN = "pat_key_secret";
const ANSWER = { status: 200, retryAfterMs: undefined, limit: undefined, remaining: undefined };
const granted = async (): Promise<unknown> => [Date.now(), "granted", 0, 0, 0, 0, 0, 0, -1, 0, 0, -1];

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] }));
afterEach(() => void vi.useRealTimers());

function withRedis(evaluate: () => Promise<unknown>, onEvent: (event: FleetEvent) => void = () => {}) {
  const asked = vi.fn(evaluate);
  const limiter = redisRateLimiter({ client: { isOpen: true, eval: asked }, onEvent });
  const enter = (): Permit =>
    limiter.enter({
      token: () => TOKEN,
      maxConcurrency: 10,
      maxPauses: 5,
      maxPauseMs: Number.POSITIVE_INFINITY,
      endsAt: Number.POSITIVE_INFINITY,
      signal: new AbortController().signal,
    });
  /** Resolves when Redis has been asked once more: the token's hash takes a moment of real time. */
  const asksAfter = async (before: number): Promise<void> => {
    while (asked.mock.calls.length === before) await setImmediate();
  };
  /** A whole attempt; the time that Redis takes passes at once. */
  const attempt = async (): Promise<boolean> => {
    const turn = enter();
    await turn.acquire();
    const before = asked.mock.calls.length;
    const confirmed = turn.confirm(TOKEN);
    if (typeof confirmed !== "boolean") {
      await asksAfter(before);
      await vi.advanceTimersByTimeAsync(300);
    }
    const goes = await confirmed;
    turn.report(ANSWER);
    turn.release();
    return goes;
  };
  return { asked, asksAfter, enter, attempt };
}

describe("no timer stays, and no rejection is left alone, when Redis", () => {
  const behaviours: readonly [string, () => Promise<unknown>, string | undefined][] = [
    ["answers", granted, undefined],
    ["never answers", () => new Promise(() => {}), "timeout"],
    ["fails", () => Promise.reject(new Error("Connection is closed.")), "error"],
    [
      "throws",
      () => {
        throw new Error("closed");
      },
      "error",
    ],
    ["rejects with nothing", () => Promise.reject(undefined), "error"],
    ["says nothing", async () => undefined, "error"],
    ["says OK", async () => "OK", "error"],
    ["says other things", async () => [1, "maybe"], "error"],
  ];
  test.each(behaviours)("%s", async (_, evaluate, reason) => {
    const events: FleetEvent[] = [];
    const { attempt } = withRedis(evaluate, (event) => void events.push(event));
    expect(await attempt()).toBe(true);
    await vi.advanceTimersByTimeAsync(300);
    expect(vi.getTimerCount()).toBe(0);
    expect(events).toEqual(reason === undefined ? [] : [{ type: "degraded", reason }]);
  });
});

test("a Redis that is away is tried again only by calls, less and less often", async () => {
  const { asked, attempt } = withRedis(() => Promise.reject(Object.assign(new Error(), { code: "ECONNREFUSED" })));
  await attempt();
  const counts = [];
  for (let second = 0; second < 30; second += 1) {
    const before = asked.mock.calls.length;
    for (let call = 0; call < 10; call += 1) {
      await attempt();
      await vi.advanceTimersByTimeAsync(100);
    }
    counts.push(asked.mock.calls.length - before);
  }
  expect(counts[0]).toBeGreaterThan(0);
  expect(counts[0]).toBeLessThanOrEqual(3);
  expect(counts.slice(20).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(3);
  const before = asked.mock.calls.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked.mock.calls.length, "nobody calls").toBe(before);
});

test.each([
  [
    "throws",
    () => {
      throw new Error("listener");
    },
  ],
  ["rejects", () => Promise.reject(new Error("listener"))], // unhandled, it would fail the run
])("a listener that %s troubles nobody", async (_, listener: () => void) => {
  const { attempt } = withRedis(() => Promise.reject(new Error()), listener);
  expect(await attempt()).toBe(true);
});

test("an attempt that ends before Redis has answered holds nothing", async () => {
  const answers: ((reply: unknown) => void)[] = [];
  const { asked, asksAfter, enter } = withRedis(() => new Promise((resolve) => void answers.push(resolve)));
  const turn = enter();
  await turn.acquire();
  const confirmed = turn.confirm(TOKEN);
  await asksAfter(0);
  turn.release();
  answers[0]?.(await granted());
  expect(await confirmed).toBe(false);
  await vi.advanceTimersByTimeAsync(10);
  const given = asked.mock.calls.map((call: readonly unknown[]) => (call[1] as { arguments: string[] }).arguments);
  expect(given.map((args) => args[3])).toEqual(["5000", "left"]);
  await vi.advanceTimersByTimeAsync(300);
  expect(vi.getTimerCount()).toBe(0);
});
