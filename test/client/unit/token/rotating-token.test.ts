/** How often a rotating token is rotated over weeks, under any clock and service; and its options. */
import { inspect } from "node:util";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  ConfigError,
  type CreatedToken,
  type RotatingTokenOptions,
  rotatingToken,
  type StoredToken,
} from "../../../../src/client/index.ts";
import { knownTokens } from "../../../../src/core/token/known-tokens.ts";
import type { TokenSource } from "../../../../src/core/token/token-source.ts";
import { fakeNow } from "../../../support/fake-time.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2030, 0, 1);

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date", "performance", "setTimeout", "clearTimeout"], now: NOW }));
afterEach(() => void vi.useRealTimers());

/** What the service does with `expires_at` at a rotation, by its own clock. */
type Expiry = (now: number, lifeMs: number, previous: number) => number;
const EXPIRIES: Readonly<Record<string, Expiry>> = {
  extends: (now, lifeMs) => now + lifeMs,
  keeps: (_, __, previous) => previous,
  "is in the past": () => Date.UTC(1970, 0, 1),
  "adds a millisecond": (_, __, previous) => previous + 1,
  "ends with the day": (now) => Math.ceil(now / DAY) * DAY,
};

interface Weeks {
  readonly expiry: Expiry;
  /** How far the local clock is ahead of the service's. */
  readonly clockAheadMs: number;
  readonly lifeMs: number;
  readonly renewBeforeMs: number;
  /** The times between calls, in order. */
  readonly steps: readonly number[];
  /** Whether each rotation fails, in order. */
  readonly failures: readonly boolean[];
}

interface Rotation {
  /** Since the beginning. */
  readonly at: number;
  readonly isFailed: boolean;
}

const rotationFailed = new Error("503");

/** Calls over two weeks; resolves with the rotations and with whether each token sent was valid by the service's clock. */
async function simulate(weeks: Weeks): Promise<{ rotations: Rotation[]; wereAllValid: boolean }> {
  knownTokens().forget();
  vi.setSystemTime(NOW + weeks.clockAheadMs);
  const startedAt = fakeNow();
  const elapsed = (): number => fakeNow() - startedAt;
  const serviceNow = (): number => NOW + elapsed();
  const issue = (serial: number, expiresAt: number): StoredToken => ({
    id: `t${serial}`,
    plaintext: `pat_k${serial}_secret`,
    expires_at: new Date(expiresAt).toISOString(),
  });
  const rotations: Rotation[] = [];
  let valid = { token: issue(0, NOW + weeks.lifeMs), until: NOW + weeks.lifeMs };
  let wereAllValid = true;
  const token = rotatingToken({ token: valid.token, renewBeforeMs: weeks.renewBeforeMs, onRotated: () => {} });
  const source: TokenSource = token.createSource(async () => {
    const isFailed = weeks.failures[rotations.length % weeks.failures.length] ?? false;
    rotations.push({ at: elapsed(), isFailed });
    if (isFailed) throw rotationFailed;
    const expiresAt = weeks.expiry(serviceNow(), weeks.lifeMs, Date.parse(valid.token.expires_at));
    valid = { token: issue(rotations.length, expiresAt), until: expiresAt };
    return { ...valid.token, name: "n", key_id: "k", scopes: [] };
  }, "https://service.example.com");
  for (let call = 0; elapsed() < 14 * DAY; call += 1) {
    const none = { rejected: undefined, rejectedBefore: undefined, isRotation: false, isPaused: () => false };
    await Promise.resolve(source.tokenFor({ ...none, inTime: (work) => work(undefined as never) }));
    const sent = source.current;
    if (sent !== valid.token.plaintext || serviceNow() >= valid.until) wereAllValid = false;
    vi.advanceTimersByTime(weeks.steps[call % weeks.steps.length] ?? HOUR);
  }
  return { rotations, wereAllValid };
}

/** The shortest time between two rotations that follow one another, of those that the condition holds for. */
function shortestGap(rotations: readonly Rotation[], isCounted: (first: Rotation) => boolean): number {
  const gaps = rotations.slice(1).map(({ at }, index) => {
    const previous = rotations[index];
    return previous !== undefined && isCounted(previous) ? at - previous.at : Number.POSITIVE_INFINITY;
  });
  return Math.min(Number.POSITIVE_INFINITY, ...gaps);
}

const steps = fc.array(fc.integer({ min: 5 * MINUTE, max: HOUR }), { minLength: 1, maxLength: 5 });
const clockAheadMs = fc.oneof(
  fc.integer({ min: -2_000 * DAY, max: 2_000 * DAY }),
  fc.integer({ min: -2 * DAY, max: 2 * DAY }),
);
const lifeMs = fc.oneof(fc.integer({ min: HOUR, max: DAY }), fc.integer({ min: DAY, max: 90 * DAY }));
const renewBeforeMs = fc.oneof(fc.constant(DAY), fc.integer({ min: 0, max: 40 * DAY }));
const expiry = fc.constantFrom(...Object.values(EXPIRIES));

describe("over two weeks", () => {
  test("no rotation follows a successful one within ten minutes, whatever happens", async () => {
    const failures = fc.array(fc.boolean(), { minLength: 1, maxLength: 5 });
    // How far the local clock is from expires_at at a rotation: the worst is a little.
    const apparentLifeMs = fc.option(fc.integer({ min: 0, max: HOUR }));
    await fc.assert(
      fc.asyncProperty(
        fc.record({ expiry, clockAheadMs, lifeMs, renewBeforeMs, steps, failures }),
        apparentLifeMs,
        async (weeks, apparent) => {
          const ahead = apparent === null ? weeks.clockAheadMs : weeks.lifeMs - apparent;
          const { rotations } = await simulate({ ...weeks, clockAheadMs: ahead });
          expect(shortestGap(rotations, ({ isFailed }) => !isFailed)).toBeGreaterThanOrEqual(10 * MINUTE);
        },
      ),
      { numRuns: 100 },
    );
  });

  test("there are at most two a day if expires_at is of no use", async () => {
    const useless = fc.constantFrom(EXPIRIES["keeps"] ?? fail, EXPIRIES["is in the past"] ?? fail);
    const noFailures = fc.constant([false]);
    await fc.assert(
      fc.asyncProperty(
        fc.record({ expiry: useless, clockAheadMs, lifeMs, renewBeforeMs, steps, failures: noFailures }),
        async (weeks) => {
          const { rotations } = await simulate(weeks);
          expect(shortestGap(rotations, () => true)).toBeGreaterThanOrEqual(12 * HOUR);
          expect(rotations.length).toBeLessThanOrEqual(28);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("there are at most two a day if the local clock is ahead of every expires_at", async () => {
    const life = fc.integer({ min: DAY, max: 90 * DAY });
    await fc.assert(
      fc.asyncProperty(life, renewBeforeMs, steps, async (lived, renew, between) => {
        const { rotations } = await simulate({
          expiry: EXPIRIES["extends"] ?? fail,
          clockAheadMs: lived + DAY,
          lifeMs: lived,
          renewBeforeMs: renew,
          steps: between,
          failures: [false],
        });
        expect(rotations.length).toBeGreaterThan(0);
        expect(rotations.length).toBeLessThanOrEqual(28);
      }),
      { numRuns: 40 },
    );
  });

  test("a failing service receives at most one rotation an hour in the long run", async () => {
    await fc.assert(
      fc.asyncProperty(fc.record({ expiry, clockAheadMs, lifeMs, renewBeforeMs, steps }), async (weeks) => {
        const { rotations } = await simulate({ ...weeks, failures: [true] });
        expect(rotations.length).toBeLessThanOrEqual(14 * 24 + 6);
      }),
      { numRuns: 30 },
    );
  });

  test("no call is sent with an expired token if tokens live a day at least and the local clock is not behind", async () => {
    const notBehind = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2_000 * DAY }));
    const life = fc.integer({ min: DAY, max: 90 * DAY });
    const renew = fc.integer({ min: 2 * HOUR, max: 40 * DAY });
    await fc.assert(
      fc.asyncProperty(notBehind, life, renew, async (ahead, lived, early) => {
        const { wereAllValid } = await simulate({
          expiry: EXPIRIES["extends"] ?? fail,
          clockAheadMs: ahead,
          lifeMs: lived,
          renewBeforeMs: early,
          steps: [HOUR],
          failures: [false],
        });
        expect(wereAllValid).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test.each(Object.entries(EXPIRIES))("with a correct clock, if the service %s: few rotations", async (_, one) => {
    const { rotations } = await simulate({
      expiry: one,
      clockAheadMs: 0,
      lifeMs: 7 * DAY,
      renewBeforeMs: DAY,
      steps: [10 * MINUTE],
      failures: [false],
    });
    expect(rotations.length).toBeLessThanOrEqual(28);
  });
});

describe("options", () => {
  const SECRET = "pat_k1_TheSecret012345";
  const token = { id: "t1", plaintext: SECRET, expires_at: "2030-02-01T00:00:00Z" };
  const onRotated = (): void => {};
  const refusal = (options: unknown): unknown => {
    try {
      return rotatingToken(options as RotatingTokenOptions); // what it may be at run time
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/TheSecret/);
      return (error as Error).message; // as just claimed
    }
  };

  test.each<[what: string, options: unknown, message: RegExp]>([
    ["no options", undefined, /options\.token must be an object with id, plaintext and expires_at, not undefined/],
    ["null", null, /options must be an object such as { token, onRotated }, not null/],
    ["a token that is a string", { token: SECRET, onRotated }, /options\.token must be an object .*, not a string/],
    [
      "a token without an id",
      { token: { ...token, id: undefined }, onRotated },
      /token\.id must be a non-empty string/,
    ],
    ["a scheme", { token: { ...token, plaintext: `Bearer ${SECRET}` }, onRotated }, /plaintext .*omit the scheme/],
    [
      "the key id of another record",
      { token: { ...token, key_id: "zz" }, onRotated },
      /plaintext does not hold its key_id/,
    ],
    [
      "a Date",
      { token: { ...token, expires_at: new Date() }, onRotated },
      /expires_at must be .*, not an instance of Date/,
    ],
    ["NaN", { token, onRotated, renewBeforeMs: Number.NaN }, /renewBeforeMs must be a number of milliseconds from 0/],
    ["no onRotated", { token }, /onRotated must be a function, not undefined/],
    ["another type of listener", { token, onRotated, onRotationFailed: true }, /onRotationFailed must be a function/],
    [
      "an unknown key",
      { token, onRotated, renewBefore: 1 },
      /unknown key "renewBefore" \(did you mean "renewBeforeMs"\?\); accepted: token, renewBeforeMs,/,
    ],
  ])("%s: ConfigError that says what is accepted, without the secret", (_, options, message) => {
    expect(refusal(options)).toMatch(message);
  });

  test("a complete CreatedToken is accepted, and undefined for optional options", () => {
    const created: CreatedToken = { ...token, name: "ci", key_id: "k1", scopes: ["projects:read"] };
    const made = rotatingToken({ token: created, onRotated, renewBeforeMs: undefined, onRotationFailed: undefined });
    expect(made.latest()).toEqual(created);
  });

  test("no print shows the secret", () => {
    const made = rotatingToken({ token, onRotated });
    for (const printed of [JSON.stringify(made), inspect(made, { depth: 9, showHidden: true, getters: true })])
      expect(printed).not.toMatch(/TheSecret/);
  });
});

function fail(): never {
  throw new Error("it is not in the table");
}
