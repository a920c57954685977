import fc from "fast-check";
import { expect, test } from "vitest";
import { withoutValues } from "../../src/doctor/emulator-conventions.ts";
import type { Conventions, RefusalReason } from "../../src/emulator/conventions.ts";
import { type ResolvedConventions, resolveConventions } from "../../src/emulator/resolve-conventions.ts";
import { createEmulator } from "../../src/testing/index.ts";
import { startEmulator } from "../../src/testing/node.ts";
import { shareOf } from "../support/all-tests.ts";
import { examine, virtualClock } from "./examine.ts";

/** The refusals that the doctor meets. A 429 is the rate limit's. */
const MET: readonly RefusalReason[] = [
  "missingToken",
  "unknownToken",
  "revokedToken",
  "missingScope",
  "unknownRoute",
  "wrongMethod",
  "unknownProject",
  "unknownSession",
  "unknownTokenRecord",
  "invalidField",
  "invalidCursor",
];

const code = fc.oneof(fc.constantFrom("forbidden", "E_42", "not-there"), fc.string({ minLength: 1, maxLength: 20 }));
/** The doctor judges no 5xx. */
const refusal = fc.record({ status: fc.integer({ min: 400, max: 499 }).filter((status) => status !== 429), code });
const success = fc.integer({ min: 200, max: 299 }).filter((status) => status !== 204 && status !== 205);
const header = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,12}$/);
const text = fc.stringMatching(/^[!-~]([ -~]{0,20}[!-~])?$/);
const json = fc.jsonValue({ maxDepth: 2 }).filter((value) => !JSON.stringify(value).includes("__proto__"));
const fields = fc.dictionary(fc.stringMatching(/^x_[a-z]{1,8}$/), json, { maxKeys: 3 });

const limitHeader = fc.constantFrom("RateLimit-Limit", "x-ratelimit-limit", "x-rate-limit-limit", "x-quota-limit");
const remainingHeader = fc.constantFrom("RateLimit-Remaining", "x-ratelimit-remaining", "x-rate-limit-remaining");
const form = fc.constantFrom("number" as const, "number_and_window" as const);
const rateLimitHeaders = fc.oneof(
  fc.record({ limit: limitHeader, remaining: fc.option(remainingHeader), form }),
  fc.record({ limit: fc.constant(null), remaining: fc.option(remainingHeader) }), // no value has no form
);
const cors = fc.oneof(
  fc.record({
    allowOrigin: fc.constantFrom("*", "https://app.example.com", "null"),
    exposeHeaders: fc.uniqueArray(header, { maxLength: 4 }),
  }),
  fc.record({ allowOrigin: fc.constant(null) }), // and then nothing is exposed
);
const limit = fc.option(refusal, { nil: undefined });

/** Less than two seconds are no difference. */
function toOffset(seconds: number): number {
  return Math.abs(seconds) < 2 ? 0 : seconds * 1_000;
}

/** Every convention that the doctor can see, and of each every value that it can tell from the others. */
const conventions: fc.Arbitrary<Conventions> = fc
  .record({
    met: fc.record(Object.fromEntries(MET.map((reason) => [reason, refusal]))),
    tooSmall: limit,
    tooLarge: limit,
    rest: fc.record({
      successStatus: fc.record({
        "projects.list": success,
        "sessions.list": success,
        "sessions.get": success,
        "issues.list": success,
        "tokens.create": success,
        "tokens.revoke": fc.integer({ min: 200, max: 299 }),
      }),
      extraFields: fc.record({
        project: fields,
        session: fields,
        issue: fields,
        token: fields,
        page: fields,
        error: fields,
      }),
      basePath: fc.constantFrom("/api/v1", "/api/v2", "/tenants/a~b/api/v1", "/v1.2"),
      contentType: fc.constantFrom("application/json", "application/problem+json; charset=utf-8", "text/json"),
      endOfList: fc.constantFrom("null" as const, "empty" as const, "missing" as const),
      rateLimitHeaders,
      retryAfter: fc.constantFrom("seconds" as const, "date" as const, null),
      cors,
      requestIdHeader: fc.constantFrom("x-request-id", "x-correlation-id", "request-id", "x-amzn-trace-id", null),
      clockOffsetMs: fc.integer({ min: -36_000, max: 36_000 }).map(toOffset),
      tokenLifetimeDays: fc.integer({ min: 1, max: 3650 }),
      sessionState: text,
      issueStatus: text,
    }),
  })
  .map(({ met, tooSmall, tooLarge, rest }) => ({
    ...rest,
    limitTooSmall: tooSmall === undefined ? ("clamp" as const) : ("refuse" as const),
    limitTooLarge: tooLarge === undefined ? ("clamp" as const) : ("refuse" as const),
    refusals: {
      ...met,
      ...(tooSmall && { limitTooSmall: tooSmall }),
      ...(tooLarge && { limitTooLarge: tooLarge }),
    },
  }));

/** Names of headers mean the same in any case. */
function comparable(given: Conventions | undefined): ResolvedConventions {
  const resolved = resolveConventions(given);
  const { limit: limitName, remaining } = resolved.rateLimitHeaders;
  return {
    ...resolved,
    rateLimitHeaders: {
      ...resolved.rateLimitHeaders,
      limit: limitName?.toLowerCase() ?? null,
      remaining: remaining?.toLowerCase() ?? null,
    },
  };
}

async function written(made: Conventions): Promise<Conventions> {
  const clock = virtualClock();
  // So few requests that some are refused: the doctor does not provoke it otherwise.
  const rateLimit = { limit: 12 };
  const projects = [{ sessions: [{}], issues: [{ title: "It breaks", type: "bug" }] }, {}];
  await using service = await startEmulator({
    now: clock.now,
    rateLimit,
    projects,
    listIssues: true,
    conventions: made,
  });
  const { seed } = await examine(service, { clock, write: true });
  return seed.conventions;
}

test("what the doctor writes of an emulator is what that was made with", async () => {
  await fc.assert(
    fc.asyncProperty(conventions, async (made) => {
      expect(comparable(await written(made))).toEqual(comparable(withoutValues(made)));
    }),
    { numRuns: shareOf(40) },
  );
});

test("an emulator made from what the doctor writes is examined to the same file", async () => {
  const [made] = fc.sample(conventions, { numRuns: 1, seed: 7 });
  const first = await written(made ?? {});
  expect(comparable(await written(first))).toEqual(comparable(first));
  expect(() => createEmulator({ conventions: first })).not.toThrow();
});
