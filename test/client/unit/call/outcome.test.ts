/** The outcome of a call, event by event, and whose word a status is, by the body alone. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError, ArgumentError, ServerError } from "../../../../src/client/index.ts";
import {
  type CallOutcome,
  isHarmless,
  isRefusalOfService,
  isSuccessOfService,
  NOTHING_SENT,
  type OutcomeEvent,
  outcomeAfter,
  outcomeOf,
  outcomeOfError,
} from "../../../../src/core/call/outcome.ts";

const UNKNOWN = [
  0, 300, 301, 302, 303, 304, 305, 306, 307, 308, 309, 399, 408, 499, 500, 501, 502, 503, 504, 511, 520, 599, 999,
];
const REJECTED = [400, 403, 404, 405, 407, 409, 413, 421, 422, 431, 451];
/** Whoever says so. */
const NOT_PASSED_ON = [401, 429];
const SUCCESSES = [200, 201, 202, 204, 206, 299];

const outcomes = fc.record({
  latest: fc.constantFrom("not_sent", "rejected", "accepted", "unknown"),
  isAmbiguous: fc.boolean(),
}) satisfies fc.Arbitrary<CallOutcome>;

describe("an event changes the outcome of the latest request, and never what is known of those before", () => {
  const events: readonly (readonly [OutcomeEvent, CallOutcome["latest"]])[] = [
    ["sent", "unknown"],
    ["unsent", "not_sent"],
    ...[...UNKNOWN, ...REJECTED].map((status) => [{ status }, "unknown"] as const),
    ...UNKNOWN.map((status) => [{ status, isFromService: true }, "unknown"] as const),
    ...REJECTED.map((status) => [{ status, isFromService: true }, "rejected"] as const),
    ...REJECTED.map((status) => [{ status, isFromService: false }, "unknown"] as const),
    ...NOT_PASSED_ON.map((status) => [{ status, isFromService: false }, "rejected"] as const),
    ...SUCCESSES.map((status) => [{ status, isFromService: true }, "accepted"] as const),
    ...SUCCESSES.map((status) => [{ status, isFromService: false }, "unknown"] as const),
    ...SUCCESSES.map((status) => [{ status }, "unknown"] as const),
  ];
  test.each(events)("%j: %s", (event, outcome) => {
    fc.assert(
      fc.property(outcomes, (before) => {
        expect(outcomeAfter(before, event)).toEqual({ latest: outcome, isAmbiguous: before.isAmbiguous });
      }),
    );
  });
});

test.each([
  ["not_sent", false],
  ["rejected", false],
  ["unknown", true],
  ["accepted", true],
] as const)("sent again after %s: an earlier request may have been applied: %s", (outcome, isAmbiguous) => {
  expect(outcomeAfter({ latest: outcome, isAmbiguous: false }, "again")).toEqual({ latest: outcome, isAmbiguous });
  expect(outcomeAfter({ latest: outcome, isAmbiguous: true }, "again")).toEqual({ latest: outcome, isAmbiguous: true });
});

/** What becomes of one request: whether it is applied, and what the client sees of that. */
const REQUESTS: readonly { readonly seen: readonly OutcomeEvent[]; readonly mayBeApplied: boolean }[] = [
  { seen: ["unsent"], mayBeApplied: false },
  { seen: [], mayBeApplied: true },
  ...NOT_PASSED_ON.map((status) => ({ seen: [{ status }], mayBeApplied: false })),
  ...REJECTED.map((status) => ({ seen: [{ status }, { status, isFromService: true }], mayBeApplied: false })),
  ...[...UNKNOWN, ...REJECTED, ...SUCCESSES].map((status) => ({ seen: [{ status }], mayBeApplied: true })),
  ...SUCCESSES.map((status) => ({ seen: [{ status }, { status, isFromService: true }], mayBeApplied: true })),
];

test("nothing of a call is called harmless if one of its requests may have been applied, in whatever order they were", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...REQUESTS), { minLength: 1, maxLength: 6 }), (requests) => {
      const events = requests.flatMap(({ seen }) => ["again", "sent", ...seen] satisfies OutcomeEvent[]).slice(1);
      const outcome = events.reduce(outcomeAfter, NOTHING_SENT);
      const mayBeApplied = requests.some((request) => request.mayBeApplied);
      expect(isHarmless(outcome)).toBe(!mayBeApplied);
      expect(["not_sent", "rejected"].includes(outcomeOf(outcome))).toBe(!mayBeApplied);
    }),
    { numRuns: 1_000 },
  );
});

test("a call that has sent nothing is harmless, and was not sent", () => {
  expect(isHarmless(NOTHING_SENT)).toBe(true);
  expect(outcomeOf(NOTHING_SENT)).toBe("not_sent");
});

test.each([
  ["an outcome that is certain", new ApiError("", { outcome: "rejected" }), { latest: "rejected", isAmbiguous: false }],
  [
    "an earlier request",
    new ApiError("", { outcome: "rejected", priorAmbiguous: true }),
    { latest: "rejected", isAmbiguous: true },
  ],
  ["no outcome", new ArgumentError(""), { latest: "unknown", isAmbiguous: false }],
  [
    "an outcome that is not known",
    new ServerError("", { outcome: "unknown" }),
    { latest: "unknown", isAmbiguous: false },
  ],
  ["an error of the application", new TypeError("no such field"), { latest: "unknown", isAmbiguous: false }],
  ["nothing at all", undefined, { latest: "unknown", isAmbiguous: false }],
] as const)("the outcome of a write is read from its error: %s", (_, error, outcome) => {
  expect(outcomeOfError(error)).toEqual(outcome);
});

/** White space and byte order marks, which count for nothing. */
const BLANKS = ["", " ", "\n\t\r ", "\ufeff", "\ufeff \n", " \ufeff"];

const PAGES = [
  "<!doctype html><title>Sign in</title>",
  "<?xml version='1.0'?><error/>",
  "OK",
  "undefined",
  "NaN",
  "Bad Gateway {",
  "404 [not found]",
  "nullify",
  "42 of 50",
  "'text'",
  ")]}',\n{}",
  "data: {}\n\n",
  "\0{}",
];

const success = (text: string, { isWhole, isDue }: { readonly isWhole: boolean; readonly isDue: boolean }) =>
  isSuccessOfService({ text, isWhole }, isDue);

describe.each([true, false])("a 2xx, a body is due: %s", (isDue) => {
  test("that begins as JSON is the service's, whole or cut, behind white space and a byte order mark", () => {
    for (const start of ["{", "[", '{"id":1}', "[1,2", "{]", '{"a":1}{"a":2}', '[{"error":"x"}]', "{ not json"]) {
      for (const blank of BLANKS) {
        for (const isWhole of [true, false]) expect(success(blank + start, { isWhole, isDue })).toBe(true);
      }
    }
  });

  test.each(["null", "42", "-1.5e3", '"text"', "true", "false"])("that is the JSON value %s, whole", (value) => {
    for (const blank of BLANKS) {
      expect(success(`${blank}${value}${blank}`, { isWhole: true, isDue })).toBe(true);
      expect(success(`${blank}${value}`, { isWhole: false, isDue })).toBe(false);
    }
  });

  test.each(PAGES)("that is %j is not the service's", (page) => {
    for (const blank of BLANKS) {
      for (const isWhole of [true, false]) expect(success(blank + page, { isWhole, isDue })).toBe(false);
    }
  });

  test("that has not begun, or is empty", () => {
    for (const blank of BLANKS) {
      expect(success(blank, { isWhole: false, isDue })).toBe(isDue ? undefined : true);
      expect(success(blank, { isWhole: true, isDue })).toBe(!isDue);
    }
  });

  test("what is known of a body changes no more, but for a value that it is the whole of", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, rest) => {
        const known = success(text, { isWhole: false, isDue });
        if (text.trim() === "" || known !== true) return;
        for (const isWhole of [true, false]) expect(success(text + rest, { isWhole, isDue })).toBe(true);
      }),
    );
  });

  test("every JSON value is the service's", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(success(text, { isWhole: true, isDue })).toBe(true);
      }),
    );
  });
});

test.each([
  [{ error: "invalid_request" }, true],
  [{ error: "" }, true],
  [{ error: { message: "no" } }, true],
  [{ error: "x", message: "y" }, true],
  [{ error: null }, false],
  [{ message: "no" }, false],
  [{ errors: ["no"] }, false],
  [{}, false],
  [["error"], false],
  ["<html>", false],
  ["error", false],
  [null, false],
  [undefined, false],
  [42, false],
])("a refusal with %j is the service's: %s", (body, isOfService) => {
  expect(isRefusalOfService(body)).toBe(isOfService);
});
