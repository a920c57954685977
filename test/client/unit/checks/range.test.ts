import fc from "fast-check";
import { expect, test } from "vitest";
import { InvalidInput } from "../../../../src/core/checks/invalid-input.ts";
import { type GivenRange, type Range, rangeOf, refuseReversed } from "../../../../src/core/checks/validators.ts";

test.each<readonly [GivenRange, Range]>([
  [
    [undefined, undefined],
    [500, 8_000],
  ],
  [
    [60_000, undefined],
    [60_000, 60_000],
  ],
  [
    [1_000, undefined],
    [1_000, 8_000],
  ],
  [
    [undefined, 100],
    [100, 100],
  ],
  [
    [undefined, 1_000],
    [500, 1_000],
  ],
  [
    [20, 30],
    [20, 30],
  ],
  [
    [0, 0],
    [0, 0],
  ],
])("%j is %j: one that is given alone moves the default of the other", (given, range) => {
  expect(rangeOf(given, [500, 8_000])).toEqual(range);
});

test("a range that is not refused is in order, and keeps what was given", () => {
  const wait = fc.option(fc.double({ min: 0, noNaN: true }), { nil: undefined });
  fc.assert(
    fc.property(wait, wait, (first, longest) => {
      const given = [first, longest] as const;
      if (first !== undefined && longest !== undefined && first > longest) {
        expect(() => refuseReversed(given, ["a", "b"])).toThrow(InvalidInput);
        return;
      }
      refuseReversed(given, ["a", "b"]);
      const [from, to] = rangeOf(given, [500, 8_000]);
      expect(from).toBeLessThanOrEqual(to);
      expect([first ?? from, longest ?? to]).toEqual([from, to]);
    }),
  );
});
