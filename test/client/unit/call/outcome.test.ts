/** The outcome of a call: what its requests have done at the service, event by event. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError, ArgumentError, ServerError } from "../../../../src/client/index.ts";
import {
  type CallOutcome,
  isHarmless,
  NOTHING_SENT,
  type OutcomeEvent,
  outcomeAfter,
  outcomeOf,
  outcomeOfError,
} from "../../../../src/core/call/outcome.ts";

const UNKNOWN = [0, 300, 301, 302, 303, 304, 305, 306, 309, 399, 408, 499, 500, 501, 502, 503, 504, 511, 520, 599, 999];
const REJECTED = [307, 308, 400, 401, 403, 404, 405, 407, 409, 413, 421, 422, 429, 431, 451];
const SUCCESSES = [200, 201, 202, 204, 206, 299];

const outcomes = fc.record({
  latest: fc.constantFrom("not_sent", "rejected", "accepted", "unknown"),
  isAmbiguous: fc.boolean(),
}) satisfies fc.Arbitrary<CallOutcome>;

describe("an event changes the outcome of the latest request, and never what is known of those before", () => {
  const events: readonly (readonly [OutcomeEvent, CallOutcome["latest"]])[] = [
    ["sent", "unknown"],
    ["unsent", "not_sent"],
    ...UNKNOWN.map((status) => [{ status }, "unknown"] as const),
    ...REJECTED.map((status) => [{ status }, "rejected"] as const),
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
  ...REJECTED.map((status) => ({ seen: [{ status }], mayBeApplied: false })),
  ...[...UNKNOWN, ...SUCCESSES].map((status) => ({ seen: [{ status }], mayBeApplied: true })),
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
