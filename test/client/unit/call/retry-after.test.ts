import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseHttpDate, parseRetryAfter } from "../../../../src/core/wire/retry-after.ts";

const CLOCK = Date.UTC(2026, 10, 21, 2, 0, 0);
const parse = (value: string | null, date: string | null = null): number | undefined =>
  parseRetryAfter(value, date, CLOCK);

describe("seconds", () => {
  test.each([
    ["0", 0],
    ["1", 1_000],
    [" 5 ", 5_000],
    ["\t5", 5_000],
    ["005", 5_000],
    ["1.5", 1_500],
    ["1.005", 1_005],
    ["2.007", 2_007],
    ["0.0001", 1],
    ["1.0000", 1_000],
    ["2.9999", 3_000],
    ["120", 120_000],
    ["86400", 86_400_000],
  ])("%j is %i ms", (value, wait) => {
    expect(parse(value)).toBe(wait);
  });

  test("any whole number is that many seconds, and never less than requested", () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31), (seconds) => {
        expect(parse(String(seconds))).toBe(seconds * 1_000);
      }),
    );
    fc.assert(
      fc.property(fc.nat(10_000), fc.integer({ min: 0, max: 999_999 }), (whole, millionths) => {
        const wait = parse(`${whole}.${String(millionths).padStart(6, "0")}`) ?? -1;
        expect(wait).toBe(whole * 1_000 + Math.ceil(millionths / 1_000));
      }),
    );
  });

  test("absurd values stay finite", () => {
    const wait = parse("9".repeat(400));
    expect(Number.isSafeInteger(wait)).toBe(true);
    expect(wait).toBeGreaterThan(1e12);
  });
});

test.each([
  ...[
    "",
    " ",
    "soon",
    "10 minutes",
    "5s",
    "+5",
    "-5",
    "-0",
    "0x10",
    "1e3",
    "1E3",
    "Infinity",
    "NaN",
    "null",
    "٣",
    "５",
    "5.",
    ".5",
    ",",
  ],
  ...["1_000", "1 000", "5 5", "5;q=1", "2026-11-21T02:00:05Z", "2026-11-21", "1795226405abc", "true", "[5]"],
  ...["Xyz, 21 Nov 2026 02:00:05 GMT", "Sat, 21 Nov 2026 02:60:05 GMT", "Saturday", "Sat, 21 Nov"],
])("%j asks for nothing", (value) => {
  expect(parse(value)).toBeUndefined();
});

describe("dates", () => {
  const at = ["Sat, 21 Nov 2026 02:00:03 GMT", "Saturday, 21-Nov-26 02:00:03 GMT", "Sat Nov 21 02:00:03 2026"];

  test.each(at)("%s is three seconds ahead", (value) => {
    expect(parse(value)).toBe(3_000);
    expect(parse(value, "Sat, 21 Nov 2026 02:00:00 GMT")).toBe(3_000);
    expect(parse(value, "Saturday, 21-Nov-26 01:59:53 GMT")).toBe(10_000);
    expect(parse(value, "not a date")).toBe(3_000);
    expect(parse(value, "2026-11-21T01:00:00Z")).toBe(3_000);
  });

  test("the past is 0, and the year 9999 is a long wait", () => {
    expect(parse("Sat, 21 Nov 2020 02:00:03 GMT")).toBe(0);
    expect(parse("Fri, 31 Dec 9999 23:59:59 GMT")).toBeGreaterThan(1e14);
  });

  test("a one-digit asctime day", () => {
    expect(parse("Tue Dec  1 02:00:00 2026")).toBe(10 * 86_400_000);
  });

  test("every second of many years is parsed as the platform does", () => {
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(9999, 11, 31) }), (ms) => {
        const date = new Date(Math.floor(ms / 1_000) * 1_000);
        expect(parseHttpDate(date.toUTCString())).toBe(date.getTime());
      }),
    );
  });
});

describe("repeated fields: the longest valid member wins", () => {
  test.each([
    ["1, 3, 2", 3_000],
    ["1,soon,2", 2_000],
    ["-9, 2", 2_000],
    ["1, Sat, 21 Nov 2026 02:00:03 GMT", 3_000],
    ["Sat, 21 Nov 2026 02:00:03 GMT, 9", 9_000],
    ["Sat, 21 Nov 2026 02:00:03 GMT, Sat, 21 Nov 2026 02:00:07 GMT", 7_000],
    ["Saturday, 21-Nov-26 02:00:03 GMT, Sat Nov 21 02:00:04 2026, 1", 4_000],
    ["soon, later", undefined],
    ["soon, 4", 4_000],
  ])("%s", (value, wait) => {
    expect(parse(value)).toBe(wait);
  });
});

describe("a repeated Date: its valid members count, and the longest wait wins", () => {
  test.each([
    ["Sat, 21 Nov 2026 01:59:58 GMT, Sat, 21 Nov 2026 02:00:00 GMT", 5_000],
    ["Sat, 21 Nov 2026 02:00:00 GMT, Sat, 21 Nov 2026 01:59:58 GMT", 5_000],
    ["Saturday, 21-Nov-26 02:00:01 GMT, Sat Nov 21 02:00:02 2026", 2_000],
    ["soon, Sat, 21 Nov 2026 01:59:53 GMT", 10_000],
    ["Sat, 21 Nov 2026 02:00:01 GMT, ", 2_000],
    ["soon, later", 3_000],
  ])("%s", (date, wait) => {
    expect(parse("Sat, 21 Nov 2026 02:00:03 GMT", date)).toBe(wait);
  });
});

test("no header means no wait", () => {
  expect(parse(null)).toBeUndefined();
});

test("for any header the wait is a number from 0 up, or undefined", () => {
  const pieces = fc.constantFrom(
    "1",
    "Sat",
    ",",
    " ",
    "21 Nov 2026 02:00:03 GMT",
    "-",
    ".",
    "e",
    "GMT",
    "\u0000",
    "Nov",
    "26",
  );
  const header = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(header, fc.option(header), (value, date) => {
      const wait = parse(value, date);
      if (wait !== undefined) expect(wait >= 0 && Number.isFinite(wait)).toBe(true);
    }),
  );
});
