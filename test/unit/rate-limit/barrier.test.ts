import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Barrier } from "../../../src/rate-limit/barrier.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched(): { barrier: Barrier; ends: number[] } {
  const ends: number[] = [];
  const startedAt = performance.now();
  return { barrier: new Barrier(() => void ends.push(Math.round(performance.now() - startedAt))), ends };
}

test("it ends with the longer of pause and hold", () => {
  const { barrier, ends } = watched();
  barrier.prolong({ askedMs: 100, lastsMs: 120 });
  barrier.hold(500);
  barrier.watch();
  vi.advanceTimersByTime(1_000);
  expect(ends).toEqual([501]);
  expect(barrier.isUp).toBe(false);
});

test("when a hold ends early, the pause under it ends when it does", () => {
  const { barrier, ends } = watched();
  barrier.hold(20_000);
  barrier.watch();
  barrier.prolong({ askedMs: 100, lastsMs: 120 });
  barrier.endHold();
  expect(barrier.isUp).toBe(true);
  vi.advanceTimersByTime(200);
  expect(ends).toEqual([121]);
});

test("a hold that ends early without a pause leaves no timer", () => {
  const { barrier, ends } = watched();
  barrier.hold(20_000);
  barrier.watch();
  barrier.endHold();
  expect(barrier.isUp).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
  expect(ends).toEqual([]);
});

test("nothing is timed while nobody watches", () => {
  const { barrier } = watched();
  barrier.hold(100);
  barrier.prolong({ askedMs: 100, lastsMs: 120 });
  expect(vi.getTimerCount()).toBe(0);
  barrier.watch();
  expect(vi.getTimerCount()).toBe(1);
  barrier.stopWatching();
  expect(vi.getTimerCount()).toBe(0);
});
