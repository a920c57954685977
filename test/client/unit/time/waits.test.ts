import fc from "fast-check";
import { expect, test } from "vitest";
import { lengthened, shortened } from "../../../../src/core/time/jitter.ts";

const waits = fc.integer({ min: 0, max: 120_000 });
const parts = fc.double({ min: 0, max: 1, noNaN: true });
const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test("a requested wait is never shorter, and at most a second longer", () => {
  fc.assert(
    fc.property(waits, parts, chances, (waitMs, part, random) => {
      const got = lengthened(waitMs, part, random);
      expect(got).toBeGreaterThanOrEqual(waitMs);
      expect(got).toBeLessThanOrEqual(waitMs + Math.min(1_000, waitMs * part));
    }),
  );
  expect(lengthened(1_000, 0.1, 0.5)).toBe(1_050);
});

test("a backoff is never longer than its setting, and never shorter than its fixed part", () => {
  fc.assert(
    fc.property(waits, parts, chances, (waitMs, part, random) => {
      const got = shortened(waitMs, part, random);
      expect(got).toBeLessThanOrEqual(waitMs);
      expect(got).toBeGreaterThanOrEqual(waitMs * (1 - part));
    }),
  );
  expect(shortened(1_000, 0.5, 0)).toBe(500);
});
