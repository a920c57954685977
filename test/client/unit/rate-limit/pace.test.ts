/** The pace after pauses: width and distance, as pure functions of what was refused and what got through. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { narrowed, type Pace, paceAt, UNPACED, widened } from "../../../../src/core/rate-limit/pace.ts";

const refusal = (at: number, { inFlight = 10, sentAt = at, pauseMs = 0 } = {}) => ({ at, inFlight, sentAt, pauseMs });
const after = (pace: Pace, passes: number, sentAt = 0): Pace =>
  Array.from({ length: passes }).reduce<Pace>((known) => widened(known, sentAt), pace);
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
  const alone = (sentAt: number, pauseMs = 1_000) => refusal(sentAt + 1, { inFlight: 1, sentAt, pauseMs });
  /** Two pauses, and the request that went ahead after them was sent at 3,000. */
  const narrow = widened(narrowed(narrowed(UNPACED, refusal(1_000)), refusal(2_000, { inFlight: 2 })), 3_000);
  const paced = narrowed(narrow, alone(3_050));

  test("is twice the time since the last that got through, where even one at a time is refused", () => {
    expect(narrowed(narrow, alone(3_040)).distanceMs).toBe(80);
    expect(narrowed(paced, alone(4_000)).distanceMs, "the first after a pause").toBe(paced.distanceMs);
    expect(narrowed(widened(narrowed(UNPACED, refusal(1_000)), 3_000), alone(3_040)).distanceMs, "wide").toBe(0);
  });

  test.each([
    ["the latest of many at that distance", 6, 100 / 0.9],
    ["the second after the pause", 1, 200],
  ])("grows if it is too short: after a refusal of %s", (_, passes, distanceMs) => {
    expect(narrowed(after(paced, passes), alone(5_000)).distanceMs).toBeCloseTo(distanceMs);
  });

  test("is a tenth less after each that gets through, but not for four times the pause that it cost", () => {
    expect(after(paced, 50, 7_050).distanceMs).toBe(100);
    expect([1, 2].map((passes) => after(paced, passes, 7_052).distanceMs)).toEqual([90, 81]);
    expect(after(paced, 100, 7_052).width, "one at a time").toBe(1);
  });

  test("is not that of a stall: the one in force was too near, however long the request before was on its way", () => {
    const found = after(paced, 60);
    for (const stallMs of [0, 150, 9_000]) {
      const sentAt = found.passedAt + found.distanceMs + stallMs;
      expect(narrowed(found, alone(sentAt)).distanceMs).toBeCloseTo(found.distanceMs / 0.9);
    }
  });

  test("is a second at most, whatever is refused and whatever gets through", () => {
    const step = fc.record({
      passes: fc.boolean(),
      afterMs: fc.nat(20_000),
      tripMs: fc.nat(5_000),
      inFlight: fc.nat(9),
    });
    const check = (steps: readonly { passes: boolean; afterMs: number; tripMs: number; inFlight: number }[]): void => {
      let [pace, sentAt]: [Pace, number] = [narrow, 3_000];
      for (const { passes, afterMs, tripMs, inFlight } of steps) {
        sentAt += afterMs;
        const at = sentAt + tripMs;
        pace = passes
          ? widened(paceAt(pace, at), sentAt)
          : narrowed(pace, { at, sentAt, inFlight: inFlight + 1, pauseMs: afterMs });
        expect(pace.distanceMs).toBeLessThanOrEqual(1_000);
      }
    };
    fc.assert(fc.property(fc.array(step, { minLength: 30, maxLength: 60 }), check));
    const refused = Array.from({ length: 30 }, () => [true, false]).flat();
    let pace = paced;
    for (const passes of refused) pace = passes ? widened(pace, 3_060) : narrowed(pace, alone(3_060));
    expect(pace.distanceMs, "it is reached").toBe(1_000);
  });

  test("is forgotten after a minute without a 429, with the width", () => {
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
          let [pace, time, taken]: [Pace, number, number] = [UNPACED, 0, -Infinity];
          const passed: number[] = [];
          while (passed.length < 400) {
            const sentAt = time;
            time += tripMs;
            if (sentAt - taken < intervalMs) {
              pace = narrowed(pace, refusal(time, { inFlight: 1, sentAt, pauseMs }));
              time += pauseMs;
            } else {
              taken = sentAt;
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
