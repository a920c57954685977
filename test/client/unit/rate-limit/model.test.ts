/** The rate limiter of one process under thousands of random schedules, with its invariants after each step. */
import fc from "fast-check";
import { afterEach, beforeEach, test, vi } from "vitest";
import { shareOf } from "../../../support/all-tests.ts";
import { dropTimers, failures, LimiterModel, settle } from "./limiter-model.ts";

const index = fc.nat(30);
const arrival = fc.record({
  maxPauses: fc.integer({ min: 0, max: 4 }),
  longestPauseMs: fc.constantFrom(0, 2_000, 120_000),
  maxConcurrency: fc.constantFrom(1, 2, 2, 3, 3, 4),
  timeoutMs: fc.constantFrom(2_000, 30_000, 30_000, Number.POSITIVE_INFINITY),
  credential: fc.constantFrom(0, 0, 0, 1),
  isWatching: fc.boolean(),
});
const retryAfterMs = fc.constantFrom(undefined, 0, 0.5, 10, 1_000, 5_000);
const rejection = fc.record({ status: fc.constant(429), retryAfterMs, remaining: fc.constantFrom(undefined, 0) });
const response = fc.record({ status: fc.constantFrom(200, 503), remaining: fc.constantFrom(undefined, 0, 1, 2, 50) });

/** The calls of a burst enter the limiter before the effects of the earlier ones have settled. */
const burst = fc.array(fc.oneof({ weight: 4, arbitrary: arrival }, index), { minLength: 1, maxLength: 5 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ burst }) },
  { weight: 6, arbitrary: fc.record({ which: index, response }) },
  { weight: 3, arbitrary: fc.record({ which: index, response: rejection }) },
  { weight: 2, arbitrary: fc.record({ drops: index }) },
  { weight: 2, arbitrary: fc.record({ which: index, triesAgain: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ whose: fc.nat(1), token: fc.constantFrom("a", "b", "c") }) },
  { weight: 4, arbitrary: fc.record({ ms: fc.constantFrom(1, 9, 500, 4_000, 5_010, 61_000) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function take(model: LimiterModel, step: Step): Promise<void> {
  if ("burst" in step)
    for (const one of step.burst) typeof one === "number" ? model.abortWaiting(one) : model.arrive(one);
  else if ("response" in step) await model.respond(step.which, step.response);
  else if ("drops" in step) model.drop(step.drops);
  else if ("triesAgain" in step) await model.lose(step.which, step.triesAgain);
  else if ("token" in step) model.changeToken(step.whose, step.token);
  else await vi.advanceTimersByTimeAsync(step.ms); // the effects of a timer settle before the next one
  await settle();
  model.checkRest();
}

const realSetTimeout = globalThis.setTimeout;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
  dropTimers();
});
afterEach(() => {
  vi.useRealTimers();
  globalThis.setTimeout = realSetTimeout;
});

/** Of those who wait, the only one awake is dropped, and a pause makes room before the others would look. */
const AWAKE_AND_DROPPED: readonly Step[] = [
  { burst: [waiting(1, 30_000), waiting(0, 30_000), waiting(0), waiting(0), waiting(1)] },
  { which: 0, triesAgain: true },
  {
    burst: [
      { ...waiting(1, Number.POSITIVE_INFINITY), maxConcurrency: 3 },
      waiting(0),
      { ...waiting(1), maxConcurrency: 2 },
    ],
  },
  { ms: 5_010 },
  { which: 0, response: { status: 200, remaining: 1 } },
  { burst: [waiting(0), { ...waiting(1), maxPauses: 1, longestPauseMs: 2_000 }] },
  { drops: 7 },
  { which: 21, triesAgain: true },
  { burst: [{ ...waiting(1), maxPauses: 1, longestPauseMs: 2_000 }, 0] },
  { which: 0, response: { status: 200, remaining: undefined } },
  { which: 9, response: { status: 429, retryAfterMs: undefined, remaining: undefined } },
];

function waiting(
  credential: 0 | 1,
  timeoutMs = 2_000,
): typeof arrival extends fc.Arbitrary<infer Value> ? Value : never {
  return { maxPauses: 0, longestPauseMs: 0, maxConcurrency: 1, timeoutMs, credential, isWatching: false };
}

test("holds under any schedule of calls, responses, failures, aborts, drops, token changes and time", async () => {
  const schedule = fc.array(step, { minLength: 3, maxLength: 40 });
  const holds = fc.asyncProperty(schedule, async (steps) => {
    // Left over from a schedule that failed.
    vi.clearAllTimers();
    failures.length = 0;
    const model = new LimiterModel();
    for (const one of steps) await take(model, one);
    await model.end();
  });
  await fc.assert(holds, { numRuns: shareOf(10_000), examples: [[AWAKE_AND_DROPPED]] });
});
