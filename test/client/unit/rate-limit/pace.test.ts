/** The pace after pauses: width and distance, as pure functions of what was refused and what got through. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { narrowed, type Pace, paceAt, UNPACED, widened } from "../../../../src/core/rate-limit/pace.ts";

const refusal = (at: number, { inFlight = 10, wasAlone = false, sentAt = at } = {}) => ({
  at,
  inFlight,
  wasAlone,
  sentAt,
});
const after = (pace: Pace, passes: number): Pace =>
  Array.from({ length: passes }).reduce<Pace>((known) => widened(known, 0), pace);
const widths = (pace: Pace): number[] => [0, 1, 2, 3, 6].map((passes) => after(pace, passes).width);

describe("the width", () => {
  test("has no bound before the first pause, and one more after each request that got through a pause", () => {
    expect(after(UNPACED, 3).width).toBe(Infinity);
    expect(widths(narrowed(UNPACED, refusal(1_000)))).toEqual([1, 2, 3, 4, 7]);
  });

  test.each([
    [10, 5],
    [7, 3],
    [2, 1],
    [1, 1],
  ])("after a pause soon after another one, at %i in flight, grows up to %i", (inFlight, widest) => {
    const first = after(narrowed(UNPACED, refusal(1_000)), 20);
    expect(after(narrowed(first, refusal(11_000, { inFlight })), 50).width).toBe(widest);
    expect(after(narrowed(first, refusal(11_001, { inFlight })), 50).width).toBe(51);
  });
});

describe("the distance", () => {
  const alone = (at: number, sentAt: number) => refusal(at, { inFlight: 1, wasAlone: true, sentAt });
  const first = widened(narrowed(UNPACED, refusal(1_000)), 3_000);

  test("is twice the time since the last that got through, where one alone is refused soon after a pause", () => {
    expect(narrowed(first, alone(3_041, 3_040)).distanceMs).toBe(80);
    expect(narrowed(first, refusal(3_041, { inFlight: 1, sentAt: 3_040 })).distanceMs, "the probe").toBe(0);
    expect(narrowed(UNPACED, alone(3_041, 3_040)).distanceMs, "no pause before").toBe(0);
  });

  test("is a tenth less after each ten that get through", () => {
    const paced = narrowed(first, alone(3_051, 3_050));
    expect([9, 10, 19, 20].map((passes) => Math.round(after(paced, passes).distanceMs))).toEqual([100, 90, 90, 81]);
    expect(after(paced, 100).width, "one at a time").toBe(1);
  });

  test("that was found is a ninth longer after a refusal, and never as near again", () => {
    const found = after(narrowed(first, alone(3_051, 3_050)), 60);
    const sentAt = found.passedAt + found.distanceMs;
    const again = narrowed(found, alone(sentAt + 1, sentAt));
    expect(again.distanceMs).toBeCloseTo(found.distanceMs / 0.9);
    expect(after(again, 100).distanceMs).toBe(again.distanceMs);
    expect(narrowed(after(again, 9), alone(sentAt + 1, sentAt)).distanceMs, "not found").toBeCloseTo(
      2 * again.distanceMs,
    );
  });

  test("is not that of a stall: the one in force was too near, however long the request before was on its way", () => {
    const found = after(narrowed(first, alone(3_051, 3_050)), 60);
    for (const stallMs of [0, 150, 9_000]) {
      const sentAt = found.passedAt + found.distanceMs + stallMs;
      expect(narrowed(found, alone(sentAt + 1, sentAt)).distanceMs).toBeCloseTo(found.distanceMs / 0.9);
    }
  });

  test("is forgotten after a minute without a 429, with the width", () => {
    const paced = narrowed(first, alone(3_051, 3_050));
    expect(paceAt(paced, 63_051)).toBe(paced);
    expect(paceAt(paced, 63_052)).toBe(UNPACED);
    expect(paceAt(paced, 3_050), "a fake clock that has gone back").toBe(UNPACED);
  });
});

test.each([1, 3, 20])(
  "each 50 requests get more than half of the rate of a leaky bucket of %i a second",
  (perSecond) => {
    const intervalMs = 1_000 / perSecond;
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: Math.ceil(intervalMs / 2) }),
        fc.constantFrom(500, 1_000),
        (tripMs, pauseMs) => {
          let [pace, time, taken, isProbe]: [Pace, number, number, boolean] = [UNPACED, 0, -Infinity, false];
          const passed: number[] = [];
          while (passed.length < 400) {
            const sentAt = time;
            time += tripMs;
            if (sentAt - taken < intervalMs) {
              pace = narrowed(pace, refusal(time, { inFlight: 1, wasAlone: !isProbe, sentAt }));
              time += pauseMs;
              isProbe = true;
            } else {
              [taken, isProbe] = [sentAt, false];
              passed.push(sentAt);
              pace = widened(paceAt(pace, time), sentAt);
              time = Math.max(time, sentAt + pace.distanceMs);
            }
          }
          for (let last = 99; last < 400; last += 1) {
            const [from = 0, to = 0] = [passed[last - 49], passed[last]];
            expect(49 / ((to - from) / 1_000), `up to request ${last + 1}`).toBeGreaterThan(perSecond / 2);
          }
        },
      ),
      { numRuns: 100 },
    );
  },
);
