/** The fate of a write: what its requests have done at the service, step by step. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError, ArgumentError, ServerError } from "../../../../src/client/index.ts";
import {
  type Fate,
  fateAfter,
  fateOfError,
  isHarmless,
  NOTHING_SENT,
  outcomeOf,
  type Step,
} from "../../../../src/core/call/fate.ts";

const UNKNOWN = [0, 300, 301, 302, 303, 304, 305, 306, 309, 399, 408, 499, 500, 501, 502, 503, 504, 511, 520, 599, 999];
const REJECTED = [307, 308, 400, 401, 403, 404, 405, 407, 409, 413, 421, 422, 429, 431, 451];
const SUCCESSES = [200, 201, 202, 204, 206, 299];

const fates = fc.record({
  outcome: fc.constantFrom("not_sent", "rejected", "accepted", "unknown"),
  isAmbiguous: fc.boolean(),
}) satisfies fc.Arbitrary<Fate>;

describe("a step changes the outcome of the latest request, and never what is known of those before", () => {
  const steps: readonly (readonly [Step, Fate["outcome"]])[] = [
    ["leaves", "unknown"],
    ["never_left", "not_sent"],
    ...UNKNOWN.map((status) => [{ status }, "unknown"] as const),
    ...REJECTED.map((status) => [{ status }, "rejected"] as const),
    ...SUCCESSES.map((status) => [{ status, isFromService: true }, "accepted"] as const),
    ...SUCCESSES.map((status) => [{ status, isFromService: false }, "unknown"] as const),
    ...SUCCESSES.map((status) => [{ status }, "unknown"] as const),
  ];
  test.each(steps)("%j: %s", (step, outcome) => {
    fc.assert(
      fc.property(fates, (before) => {
        expect(fateAfter(before, step)).toEqual({ outcome, isAmbiguous: before.isAmbiguous });
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
  expect(fateAfter({ outcome, isAmbiguous: false }, "again")).toEqual({ outcome, isAmbiguous });
  expect(fateAfter({ outcome, isAmbiguous: true }, "again")).toEqual({ outcome, isAmbiguous: true });
});

/** What becomes of one request: whether it is applied, and what the client sees of that. */
const REQUESTS: readonly { readonly seen: readonly Step[]; readonly mayBeApplied: boolean }[] = [
  { seen: ["never_left"], mayBeApplied: false },
  { seen: [], mayBeApplied: true },
  ...REJECTED.map((status) => ({ seen: [{ status }], mayBeApplied: false })),
  ...[...UNKNOWN, ...SUCCESSES].map((status) => ({ seen: [{ status }], mayBeApplied: true })),
  ...SUCCESSES.map((status) => ({ seen: [{ status }, { status, isFromService: true }], mayBeApplied: true })),
];

test("nothing of a call is called harmless if one of its requests may have been applied, in whatever order they were", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...REQUESTS), { minLength: 1, maxLength: 6 }), (requests) => {
      const steps = requests.flatMap(({ seen }) => ["again", "leaves", ...seen] satisfies Step[]).slice(1);
      const fate = steps.reduce(fateAfter, NOTHING_SENT);
      const mayBeApplied = requests.some((request) => request.mayBeApplied);
      expect(isHarmless(fate)).toBe(!mayBeApplied);
      expect(["not_sent", "rejected"].includes(outcomeOf(fate))).toBe(!mayBeApplied);
    }),
    { numRuns: 1_000 },
  );
});

test("a call that has sent nothing is harmless, and was not sent", () => {
  expect(isHarmless(NOTHING_SENT)).toBe(true);
  expect(outcomeOf(NOTHING_SENT)).toBe("not_sent");
});

test.each([
  [
    "an outcome that is certain",
    new ApiError("", { outcome: "rejected" }),
    { outcome: "rejected", isAmbiguous: false },
  ],
  [
    "an earlier request",
    new ApiError("", { outcome: "rejected", priorAmbiguous: true }),
    { outcome: "rejected", isAmbiguous: true },
  ],
  ["no outcome", new ArgumentError(""), { outcome: "unknown", isAmbiguous: false }],
  [
    "an outcome that is not known",
    new ServerError("", { outcome: "unknown" }),
    { outcome: "unknown", isAmbiguous: false },
  ],
  ["an error of the application", new TypeError("no such field"), { outcome: "unknown", isAmbiguous: false }],
  ["nothing at all", undefined, { outcome: "unknown", isAmbiguous: false }],
] as const)("the fate of a write is read from its error: %s", (_, error, fate) => {
  expect(fateOfError(error)).toEqual(fate);
});
