/** When Redis is asked again after a failure. */
import { afterEach, expect, test, vi } from "vitest";
import { CircuitBreaker } from "../../src/redis/circuit-breaker.ts";

afterEach(() => void vi.useRealTimers());

test("a trial that the platform drops is followed by another one", () => {
  vi.useFakeTimers();
  const told: string[] = [];
  const breaker = new CircuitBreaker(({ type }) => told.push(type));
  breaker.open({ reason: "error", message: "it is away" });
  expect(breaker.mayTry).toBe(false);
  vi.advanceTimersByTime(250);
  expect(breaker.mayTry).toBe(true);
  breaker.beginTrial();
  expect(breaker.mayTry).toBe(false);
  vi.advanceTimersByTime(60_000);
  expect(breaker.mayTry).toBe(true);
  breaker.close();
  expect(told).toEqual(["degraded", "rejoined"]);
});
