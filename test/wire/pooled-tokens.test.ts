/** A token provider that hands out the tokens of a pool in turn. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { allEnded, fakeTime } from "../support/fake-time.ts";
import { after, good, type Reply, status } from "../support/replies.ts";
import { scriptedFetch } from "../support/scripted-fetch.ts";

fakeTime();

const WINDOW_MS = 1_000;

/** A provider, asynchronous by so many turns, that fails when it is called more often than any progress explains. */
function poolOf(size: number, { turns = 1, mostCalls = 5_000 } = {}) {
  let calls = 0;
  return async (): Promise<string> => {
    calls += 1;
    if (calls > mostCalls) throw new Error("the calls take turns without being sent");
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    return `pat_pool${calls % size}_0123456789`;
  };
}

/** A provider that hands out these of the tokens, each after so many turns, and then begins again. */
function sequenceOf(steps: readonly { readonly token: number; readonly turns: number }[]) {
  let calls = 0;
  return async (): Promise<string> => {
    const { token = 0, turns = 0 } = steps[calls % steps.length] ?? {};
    calls += 1;
    if (calls > 5_000) throw new Error("the calls take turns without being sent");
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    return `pat_pool${token}_0123456789`;
  };
}

/** A service that accepts `limit` requests of a token in each window. */
function limitedTo(limit: number): Reply {
  const windows = new Map<string, { readonly since: number; used: number }>();
  return async (sent) => {
    let window = windows.get(sent.token);
    if (window === undefined || performance.now() - window.since >= WINDOW_MS) {
      window = { since: performance.now(), used: 0 };
      windows.set(sent.token, window);
    }
    const leftMs = window.since + WINDOW_MS - performance.now();
    window.used += 1;
    const isOver = window.used > limit;
    await new Promise((resolve) => setTimeout(resolve, 3));
    return isOver ? status(429, { "retry-after": (leftMs / 1_000).toFixed(3) }) : good(sent);
  };
}

describe.each([2, 3, 5])("a pool of %i tokens", (size) => {
  test.each([1, 2, 7])("that takes %i turns: many calls at once are all sent, once each", async (turns) => {
    const service = scriptedFetch(after(5, good));
    const client = service.client({ token: poolOf(size, { turns }) });
    const settled = await allEnded(Array.from({ length: 100 }, (_, index) => client.sessions.get(`${index}`)));
    expect(settled.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(service.sent).toHaveLength(100);
  });

  test("that is limited: every call succeeds, in about the time that the limits ask for", async () => {
    const service = scriptedFetch(limitedTo(10));
    const client = service.client({ token: poolOf(size), retry: { rateLimitWaits: 50 } });
    const input = { title: "t", type: "bug" };
    const settled = await allEnded(Array.from({ length: 100 }, () => client.issues.create("web", input)));
    expect(settled.filter(({ error }) => error !== undefined)).toEqual([]);
    const tookMs = Math.max(...settled.map(({ tookMs: ms }) => ms));
    expect(tookMs).toBeLessThanOrEqual((100 / (10 * size) + 4) * WINDOW_MS);
  });

  test("no token has more requests in flight than maxConcurrency", async () => {
    const inFlight = new Map<string, number>();
    let most = 0;
    const service = scriptedFetch(async (sent) => {
      const now = (inFlight.get(sent.token) ?? 0) + 1;
      inFlight.set(sent.token, now);
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 1 + (sent.index % 7)));
      inFlight.set(sent.token, (inFlight.get(sent.token) ?? 0) - 1);
      return good(sent);
    });
    const client = service.client({ token: poolOf(size), maxConcurrency: 4 });
    const settled = await allEnded(Array.from({ length: 100 }, (_, index) => client.sessions.get(`${index}`)));
    expect(settled.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(most).toBeLessThanOrEqual(4);
    expect(most).toBeGreaterThan(1);
  });
});

test("tokens in any order, after any number of turns: every call is sent", async () => {
  const step = fc.record({ token: fc.nat({ max: 3 }), turns: fc.nat({ max: 9 }) });
  const limits = fc.record({ limit: fc.integer({ min: 2, max: 12 }), maxConcurrency: fc.integer({ min: 1, max: 12 }) });
  const isSent = fc.asyncProperty(
    fc.array(step, { minLength: 2, maxLength: 12 }),
    limits,
    async (steps, { limit, maxConcurrency }) => {
      const service = scriptedFetch(limitedTo(limit));
      const retry = { rateLimitWaits: 500 };
      const client = service.client({ token: sequenceOf(steps), maxConcurrency, retry });
      const settled = await allEnded(Array.from({ length: 40 }, (_, index) => client.sessions.get(`${index}`)));
      expect(settled.filter(({ error }) => error !== undefined)).toHaveLength(0);
    },
  );
  await fc.assert(isSent, { numRuns: 60 });
}, 60_000);
