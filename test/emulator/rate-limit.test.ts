import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RateLimiter } from "../../src/emulator/rate-limit.ts";

describe("the rate limiter", () => {
  const step = fc.record({ token: fc.constantFrom("a", "b"), afterMs: fc.integer({ min: 0, max: 900 }) });

  test("never lets more through in a window than its limit, and Retry-After is always enough and never a second too long", () => {
    const property = (limit: number, windowMs: number, steps: readonly { token: string; afterMs: number }[]): void => {
      const limiter = new RateLimiter({ limit, windowMs });
      const allowed: Record<string, number[]> = { a: [], b: [] };
      let now = 1_000_000;
      for (const { token, afterMs } of steps) {
        now += afterMs;
        const peeked = limiter.peek(token, now);
        const { remaining, retryAfterSeconds } = limiter.take(token, now);
        expect(peeked).toEqual({ limit, remaining: remaining + (retryAfterSeconds === undefined ? 1 : 0) });
        if (retryAfterSeconds === undefined) {
          allowed[token]?.push(now);
          continue;
        }
        expect(remaining).toBe(0);
        expect(Number.isInteger(retryAfterSeconds) && retryAfterSeconds >= 1).toBe(true);
        expect(limiter.peek(token, now + retryAfterSeconds * 1000).remaining).toBe(limit);
        if (retryAfterSeconds > 1) expect(limiter.peek(token, now + (retryAfterSeconds - 1) * 1000).remaining).toBe(0);
      }
      for (const times of Object.values(allowed)) {
        // Two windows may touch, so the bound over any span of one window is twice the limit.
        for (const start of times) {
          expect(times.filter((at) => at >= start && at < start + windowMs).length).toBeLessThanOrEqual(2 * limit);
        }
        for (let opened = times[0], index = 0; opened !== undefined; ) {
          const inside = times.filter((at) => at >= (opened ?? 0) && at < (opened ?? 0) + windowMs).length;
          expect(inside).toBeLessThanOrEqual(limit);
          index += inside;
          opened = times[index];
        }
      }
    };
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 3_000 }),
        fc.array(step, { maxLength: 60 }),
        property,
      ),
    );
  });

  test("a window opens with the first request after the last one, not on the minute", () => {
    const limiter = new RateLimiter({ limit: 1, windowMs: 60_000 });
    limiter.take("a", 0);
    expect(limiter.take("a", 100_000)).toEqual({ limit: 1, remaining: 0 });
    expect(limiter.take("a", 159_999)).toMatchObject({ retryAfterSeconds: 1 });
    expect(limiter.take("a", 160_000)).toEqual({ limit: 1, remaining: 0 });
  });
});
