import { describe, expect, test } from "vitest";
import {
  isRotationDue,
  pauseAfter,
  type RotationSchedule,
  scheduleInitial,
  scheduleReplacement,
} from "../../../../src/core/token/rotation-schedule.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The clocks at the moment of the decision. */
const AT = { wall: 1_000 * DAY, monotonic: 5 * HOUR };

/** After how long the rotation is due if both clocks go right; checked at the very millisecond. */
function dueAfter(schedule: RotationSchedule): number {
  const { dueAt, dueAtAge, notBefore } = schedule;
  const byClock = Math.min(dueAt - AT.wall, dueAtAge - AT.monotonic);
  const after = Math.max(byClock, notBefore - AT.monotonic);
  const later = (ms: number) => ({ wall: AT.wall + ms, monotonic: AT.monotonic + ms });
  expect(isRotationDue(schedule, later(after))).toBe(true);
  if (after > 0) expect(isRotationDue(schedule, later(after - 1))).toBe(false);
  return after;
}

describe("the token to start with is due", () => {
  test.each([
    { when: "renewBeforeMs before it expires", livesMs: 30 * DAY, renewBeforeMs: DAY, expected: 29 * DAY },
    { when: "when it expires, if renewBeforeMs is 0", livesMs: 30 * DAY, renewBeforeMs: 0, expected: 30 * DAY },
    { when: "at once within renewBeforeMs of its expiry", livesMs: 5 * HOUR, renewBeforeMs: DAY, expected: 0 },
    { when: "at once after its expiry", livesMs: -5 * HOUR, renewBeforeMs: DAY, expected: 0 },
  ])("$when", ({ livesMs, renewBeforeMs, expected }) => {
    expect(dueAfter(scheduleInitial(AT.wall + livesMs, renewBeforeMs, AT))).toBe(Math.max(0, expected));
  });

  test("at the same age if the wall clock is set back, and earlier if it is set ahead", () => {
    const schedule = scheduleInitial(AT.wall + 10 * DAY, DAY, AT);
    expect(isRotationDue(schedule, { wall: AT.wall - 500 * DAY, monotonic: AT.monotonic + 9 * DAY })).toBe(true);
    expect(isRotationDue(schedule, { wall: AT.wall + 9 * DAY, monotonic: AT.monotonic + 1 })).toBe(true);
  });
});

describe("a replacement is due", () => {
  test.each([
    { when: "renewBeforeMs before it expires", livesMs: 90 * DAY, renewBeforeMs: DAY, expected: 89 * DAY },
    {
      when: "after half its life, if it lives no longer than renewBeforeMs",
      livesMs: 4 * DAY,
      renewBeforeMs: 30 * DAY,
      expected: 2 * DAY,
    },
    { when: "after half its life, if that is an hour", livesMs: 2 * HOUR, renewBeforeMs: DAY, expected: HOUR },
    { when: "after ten minutes at the earliest", livesMs: 3 * MINUTE, renewBeforeMs: DAY, expected: 10 * MINUTE },
    {
      when: "after half a day, if it has expired by the local clock",
      livesMs: -400 * DAY,
      renewBeforeMs: DAY,
      expected: 12 * HOUR,
    },
    { when: "after half a day, if it expires at this moment", livesMs: 0, renewBeforeMs: DAY, expected: 12 * HOUR },
  ])("$when", ({ livesMs, renewBeforeMs, expected }) => {
    const expiry = { expiredAt: AT.wall - 500 * DAY, expiresAt: AT.wall + livesMs };
    expect(dueAfter(scheduleReplacement(expiry, renewBeforeMs, AT))).toBe(expected);
  });

  test.each([0, -DAY])("after half a day, if it expires no later than its predecessor (%i ms)", (extensionMs) => {
    const expiry = { expiredAt: AT.wall + 2 * HOUR, expiresAt: AT.wall + 2 * HOUR + extensionMs };
    expect(dueAfter(scheduleReplacement(expiry, DAY, AT))).toBe(12 * HOUR);
  });

  test("no earlier than half a day after the rotation, if the wall clock is set ahead", () => {
    const schedule = scheduleReplacement({ expiredAt: AT.wall, expiresAt: AT.wall + 90 * DAY }, DAY, AT);
    const ahead = { wall: AT.wall + 900 * DAY, monotonic: AT.monotonic + 12 * HOUR };
    expect(isRotationDue(schedule, ahead)).toBe(true);
    expect(isRotationDue(schedule, { ...ahead, monotonic: ahead.monotonic - 1 })).toBe(false);
  });
});

test("after failures in a row the pause doubles from a minute to an hour", () => {
  const minutes = [1, 2, 3, 4, 5, 6, 7, 8, 5_000].map((failures) => pauseAfter(failures) / MINUTE);
  expect(minutes).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
});
