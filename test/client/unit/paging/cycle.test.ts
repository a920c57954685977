import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CycleDetector } from "../../../../src/core/paging/walk.ts";
import { anyCharacter } from "../../../support/characters.ts";

/** After how many cursors a detector finds a cycle; `undefined` if it does not within `max`. */
function foundAfter(cursorAt: (index: number) => string, max: number): number | undefined {
  const cycle = new CycleDetector();
  for (let index = 0; index < max; index += 1) if (cycle.closes(cursorAt(index))) return index + 1;
  return undefined;
}

/** A walk of `lead` cursors that leads into a cycle of `round` others. */
const into =
  (lead: number, round: number) =>
  (index: number): string =>
    `c${index < lead ? index : lead + ((index - lead) % round)}`;

describe("a cycle", () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])("of %i cursors is found at the first repeat, however late it begins", (round) => {
    for (const lead of [0, 1, 50, 1_000, 100_000]) {
      expect(foundAfter(into(lead, round), 200_000)).toBe(lead + round + 1);
    }
  });

  test("in a walk of up to 64 cursors is found at the first repeat", () => {
    for (let lead = 0; lead < 64; lead += 1) {
      for (let round = 1; lead + round <= 64; round += 1) {
        expect(foundAfter(into(lead, round), 200)).toBe(lead + round + 1);
      }
    }
  });

  test.each([9, 10, 16, 17, 100, 1_000, 65_536])("of %i cursors is found a round late at most", (round) => {
    expect(foundAfter(into(0, round), 3 * round)).toBeLessThanOrEqual(2 * round + 1);
    expect(foundAfter(into(20 * round, round), 23 * round)).toBeLessThanOrEqual(22 * round + 1);
  });

  // Every n-th cursor is kept, and n is 1/32 at most of the cursors so far, also of those in which it is found.
  test("of any length, wherever it begins, is found later by 1/32 of the walk at most", () => {
    fc.assert(
      fc.property(fc.nat(3_000), fc.integer({ min: 1, max: 3_000 }), (lead, round) => {
        const found = foundAfter(into(lead, round), 10_000) ?? Number.NaN;
        expect(found).toBeGreaterThan(lead + round);
        expect(found - lead - round).toBeLessThanOrEqual(Math.max(1, found / 32));
      }),
      { examples: [[2_177, 1_857]] },
    );
  });

  test("is found whatever its cursors look like", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ unit: anyCharacter, minLength: 1 }), { minLength: 1, maxLength: 60 }),
        (cursors) => {
          expect(foundAfter((index) => cursors[index % cursors.length] ?? "", 100)).toBe(cursors.length + 1);
        },
      ),
    );
  });

  // A new cursor (a time stamp) in each round does not hide the cycle.
  test.each([10, 20, 50])("of %i cursors with a fresh one in each round is found", (round) => {
    const at = (index: number): string => (index % round === 0 ? `fresh${index / round}` : `c${index % round}`);
    expect(foundAfter(at, 20 * round)).toBeDefined();
  });
});

describe("no cycle is found", () => {
  test("in distinct cursors, however many", () => {
    expect(foundAfter((index) => `eyJpZCI6${index}fQ==`, 300_000)).toBeUndefined();
  });

  test("in distinct cursors, whatever they look like", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: anyCharacter }), { maxLength: 200 }), (cursors) => {
        expect(foundAfter((index) => cursors[index] ?? "", cursors.length)).toBeUndefined();
      }),
    );
  });
});
