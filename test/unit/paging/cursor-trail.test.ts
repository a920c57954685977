import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CursorTrail } from "../../../src/paging/cursor-trail.ts";

/** After how many cursors a trail says that it goes in circles; `undefined` if it does not within `max`. */
function toldAfter(cursorAt: (index: number) => string, max: number): number | undefined {
  const trail = new CursorTrail();
  for (let index = 0; index < max; index += 1) if (trail.repeats(cursorAt(index))) return index + 1;
  return undefined;
}

describe("cycles", () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])("one of %i cursors is told at the first repeat", (length) => {
    expect(toldAfter((index) => `c${index % length}`, 100)).toBe(length + 1);
  });

  test.each([9, 10, 16, 17, 100, 1_000, 65_536])("one of %i cursors is told a round late at most", (length) => {
    expect(toldAfter((index) => `c${index % length}`, 3 * length)).toBeLessThanOrEqual(2 * length + 1);
  });

  test("any walk into a cycle is told within two rounds of it, whatever the cursors look like", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ unit: "binary", minLength: 1 }), { minLength: 1, maxLength: 60 }),
        fc.nat(59),
        (cursors, tail) => {
          const lead = Math.min(tail, cursors.length - 1);
          const round = cursors.length - lead;
          const at = (index: number): string => {
            const cursor = cursors[index < cursors.length ? index : lead + ((index - lead) % round)];
            if (cursor === undefined) throw new Error("out of range");
            return cursor;
          };
          const told = toldAfter(at, 10 * cursors.length);
          expect(told).toBeGreaterThan(cursors.length);
          expect(told).toBeLessThanOrEqual(cursors.length + round + 1);
        },
      ),
    );
  });

  // A service that puts a fresh cursor (a time stamp) into each round is in circles all the same.
  test.each([10, 20, 50])("one of %i cursors with a fresh one in each round is told", (length) => {
    const at = (index: number): string => (index % length === 0 ? `fresh${index / length}` : `c${index % length}`);
    expect(toldAfter(at, 20 * length)).toBeDefined();
  });
});

describe("no cycle", () => {
  test("distinct cursors are never told for one, however many", () => {
    expect(toldAfter((index) => `eyJpZCI6${index}fQ==`, 300_000)).toBeUndefined();
  });

  test("distinct cursors are never told for one, whatever they look like", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: "binary" }), { maxLength: 200 }), (cursors) => {
        expect(toldAfter((index) => cursors[index] ?? "", cursors.length)).toBeUndefined();
      }),
    );
  });

  test("cursors whose fingerprints collide are not told for a cycle", () => {
    // A birthday search over the fingerprint's 31 bits: a trail takes a collision for a suspicion, and no more.
    const trail = new CursorTrail();
    for (let index = 0; index < 200_000; index += 1) expect(trail.repeats(`${index.toString(36)}-x`)).toBe(false);
  });
});

test("a long walk costs a few bytes per page, however long its cursors are", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const pages = 100_000;
  const trail = new CursorTrail();
  collect();
  const before = process.memoryUsage();
  for (let index = 0; index < pages; index += 1) trail.repeats(`${index}${"x".repeat(2_000)}`);
  collect();
  const after = process.memoryUsage();
  const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  expect(trail.repeats("0")).toBe(false);
  expect(grown / pages).toBeLessThan(40);
});
