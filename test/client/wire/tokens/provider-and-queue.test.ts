/** Token providers and the queue: the order of calls, pauses, and the tokens of a pool in turn. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ClientEvent,
  type RotatingToken,
  type RotatingTokenOptions,
  rotatingToken,
} from "../../../../src/client/index.ts";
import type { TokenContext } from "../../../../src/core/token/token-source.ts";
import { shareOf } from "../../../support/all-tests.ts";
import { allEnded, ended, fakeNow, fakeTime, finish, pass, watch } from "../../../support/fake-time.ts";
import { after, good, notConnected, type Reply, responds, status, tooMany } from "../../../support/replies.ts";
import { repeatingLast, type ScriptedFetch, scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

test("calls that begin before the token provider has returned its first token are sent in order of arrival", async () => {
  const service = scriptedFetch(after(5, good));
  const token = (): Promise<string> => new Promise((resolve) => setTimeout(() => resolve("pat_1"), 20));
  const client = service.client({ token, maxConcurrency: 1 });
  await ended(Promise.all(["1", "2", "3", "4"].map((id) => client.sessions.get(id))));
  expect(service.sent.map(({ url }) => url.split("/").at(-1))).toEqual(["1", "2", "3", "4"]);
});

test("calls that wait for their token while a 429 closes the gate are not sent into the pause", async () => {
  let asked = 0;
  const service = scriptedFetch((sent) => (sent.index === 0 ? after(20, tooMany(1))(sent) : after(5, good)(sent)));
  const client = service.client({
    token: async () => {
      asked += 1;
      // The first call has its token at once. The others wait for theirs until the first has a response.
      if (asked > 1) await new Promise((resolve) => setTimeout(resolve, 50));
      return "pat_provided_0123456789";
    },
  });
  const first = client.sessions.get("1");
  await pass(0);
  const others = Array.from({ length: 5 }, (_, index) => client.sessions.get(`${index + 2}`));
  const settled = allEnded([first, ...others]);
  await pass(2_000);
  await settled;
  const [refused, ...rest] = service.sent;
  expect(rest.length).toBe(6);
  for (const { at } of rest) expect(at - (refused?.at ?? 0)).toBeGreaterThanOrEqual(1_000);
});

const REPLACEMENT = { id: "t2", plaintext: "pat_k2_TheNewSecret4567", expires_at: "2300-01-01T00:00:00Z" };
const rotated = responds(201, {}, JSON.stringify({ ...REPLACEMENT, name: "ci", key_id: "k2", scopes: [] }));

/** A token that is due `dueInMs` from now. */
function dueIn(dueInMs: number, options: Partial<RotatingTokenOptions> = {}): RotatingToken {
  const expires_at = new Date(Date.now() + dueInMs + 1_000).toISOString();
  return rotatingToken({
    token: { id: "t1", plaintext: "pat_k1_TheOldSecret0123", expires_at },
    ...{ renewBeforeMs: 1_000, onRotated: () => {} },
    ...options,
  });
}

/** The last segments of the paths that were asked, in order. */
const asked = ({ sent }: ScriptedFetch): (string | undefined)[] => sent.map(({ path }) => path.split("/").at(-1));

test("a rotating token that is due in a pause is rotated after it, by the next call that begins", async () => {
  const token = dueIn(500);
  const service = scriptedFetch(tooMany(2), good, good, good, rotated, good);
  const client = service.client({ token, maxConcurrency: 1 });
  const calls = [client.sessions.get("1"), client.sessions.get("2")];
  await pass(1_000);
  const settled = allEnded([...calls, client.sessions.get("3")]);
  await pass(3_000);
  await settled;
  expect((await ended(client.sessions.get("4"))).error).toBeUndefined();
  expect(asked(service)).toEqual(["1", "1", "2", "3", "rotate", "4"]);
  expect((service.sent[1]?.at ?? 0) - (service.sent[0]?.at ?? 0)).toBeGreaterThanOrEqual(2_000);
});

test("a rotation that is answered 429 pauses the token, and is tried again later: calls go on with the old token", async () => {
  const failures: unknown[] = [];
  const pauses: ClientEvent[] = [];
  const token = dueIn(0, { onRotationFailed: (error) => failures.push(error) });
  const service = scriptedFetch(after(5, tooMany(45)), good, good, good);
  const client = service.client({
    ...{ token, maxConcurrency: 1 },
    onEvent: (event) => void (event.type.startsWith("rate_limit") && pauses.push(event)),
  });
  const settled = await allEnded(["1", "2", "3"].map((id) => client.sessions.get(id)));
  expect(settled.map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
  expect(asked(service).sort()).toEqual(["1", "2", "3", "rotate"]);
  for (const { at } of service.sent.slice(1)) expect(at - (service.sent[0]?.at ?? 0)).toBeGreaterThanOrEqual(45_000);
  expect(failures).toMatchObject([{ kind: "rate_limit", retryAfterMs: 45_000, attempts: 1 }]);
  expect(pauses.map(({ type }) => type)).toEqual(["rate_limit_pause", "rate_limit_resume"]);
});

test("a rotation that is answered 429 for longer than a call waits fails the waiting calls at once, and nothing is sent", async () => {
  const service = scriptedFetch(after(5, tooMany(600)));
  const client = service.client({ token: dueIn(0), maxConcurrency: 1 });
  const settled = await allEnded(["1", "2", "3"].map((id) => client.sessions.get(id)));
  for (const { error, tookMs } of settled) {
    expect(error).toMatchObject({ kind: "rate_limit", outcome: "not_sent", attempts: 0 });
    expect(tookMs).toBeLessThan(1_000);
  }
  expect(asked(service)).toEqual(["rotate"]);
});

test("a rotation is one of the requests of its token that are in flight", async () => {
  const inFlight = new Map<string, number>();
  let most = 0;
  const service = scriptedFetch(async (sent) => {
    const now = (inFlight.get(sent.token) ?? 0) + 1;
    inFlight.set(sent.token, now);
    most = Math.max(most, now);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inFlight.set(sent.token, (inFlight.get(sent.token) ?? 0) - 1);
    return sent.path.endsWith("/rotate") ? rotated(sent) : good(sent);
  });
  const client = service.client({ token: dueIn(500), maxConcurrency: 3 });
  const calls = Array.from({ length: 3 }, (_, index) => client.sessions.get(`${index}`));
  await pass(500);
  calls.push(...Array.from({ length: 9 }, (_, index) => client.sessions.get(`${3 + index}`)));
  const settled = await allEnded(calls);
  expect(settled.filter(({ error }) => error !== undefined)).toEqual([]);
  expect(asked(service).filter((segment) => segment === "rotate")).toHaveLength(1);
  expect(most).toBe(3);
});

test.each([
  ["is aborted", (signal: AbortSignal) => ({ signal })],
  ["runs out of its timeoutMs", () => ({ timeoutMs: 10 })],
  ["runs out of its totalTimeoutMs", () => ({ totalTimeoutMs: 10 })],
])("a rotation whose call %s goes on, and its 429 pauses the token", async (_, options) => {
  const pauses: ClientEvent[] = [];
  const service = scriptedFetch(repeatingLast(after(50, tooMany(2)), good));
  const client = service.client({
    ...{ token: dueIn(0), maxConcurrency: 1 },
    onEvent: (event) => void (event.type === "rate_limit_pause" && pauses.push(event)),
  });
  const first = new AbortController();
  const left = watch([client.sessions.get("1", options(first.signal))]);
  await pass(20);
  first.abort();
  await pass(40);
  expect(pauses).toMatchObject([{ operation: "tokens.rotate" }]);
  expect((await ended(client.sessions.get("2"))).error).toBeUndefined();
  await finish(left);
  expect(asked(service)[0]).toBe("rotate");
  expect((service.sent[1]?.at ?? 0) - (service.sent[0]?.at ?? 0)).toBeGreaterThanOrEqual(2_000);
});

test("a rotation that backs off, since no connection was made, is not sent into a pause that begins meanwhile", async () => {
  const failures: unknown[] = [];
  const token = dueIn(100, { onRotationFailed: (error) => failures.push(error) });
  const service = scriptedFetch(after(150, tooMany(30)), notConnected, good, good);
  const client = service.client({ token });
  const first = client.sessions.get("1");
  await pass(120);
  const settled = await allEnded([first, client.sessions.get("2")]);
  expect(settled.map(({ error }) => error)).toEqual([undefined, undefined]);
  const [refused, , ...rest] = service.sent;
  expect(asked(service).slice(0, 2)).toEqual(["1", "rotate"]);
  for (const { at } of rest) expect(at - (refused?.at ?? 0)).toBeGreaterThanOrEqual(30_000);
  expect(failures).toMatchObject([{ kind: "rate_limit", outcome: "not_sent", cause: { kind: "connection" } }]);
});

const WINDOW_MS = 1_000;

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
    if (window === undefined || fakeNow() - window.since >= WINDOW_MS) {
      window = { since: fakeNow(), used: 0 };
      windows.set(sent.token, window);
    }
    const leftMs = window.since + WINDOW_MS - fakeNow();
    window.used += 1;
    const isOver = window.used > limit;
    await new Promise((resolve) => setTimeout(resolve, 3));
    return isOver ? status(429, { "retry-after": (leftMs / 1_000).toFixed(3) }) : good(sent);
  };
}

test.each([2, 5])(
  "a pool of %i tokens that are limited: every call succeeds, in about the time that the limits ask for",
  async (size) => {
    const service = scriptedFetch(limitedTo(10));
    const token = sequenceOf(Array.from({ length: size }, (_, index) => ({ token: index, turns: 1 })));
    const client = service.client({ token, retry: { rateLimitWaits: 50 } });
    const input = { title: "t", type: "bug" };
    const settled = await allEnded(Array.from({ length: 100 }, () => client.issues.create("web", input)));
    expect(settled.filter(({ error }) => error !== undefined)).toEqual([]);
    const tookMs = Math.max(...settled.map(({ tookMs: ms }) => ms));
    expect(tookMs).toBeLessThanOrEqual((100 / (10 * size) + 4) * WINDOW_MS);
  },
);

test.each([1, 2, 10])(
  "a provider that still returns a revoked token at times, unless it is told of it: every call succeeds (%i at once)",
  async (maxConcurrency) => {
    let asked = 0;
    // A store of secrets whose copies differ for a while.
    const token = async ({ rejected }: TokenContext): Promise<string> => {
      asked += 1;
      const isOld = asked % 2 === 1 && rejected === undefined;
      await new Promise((resolve) => setTimeout(resolve, 1));
      return isOld ? "pat_old_0123456789" : "pat_new_0123456789";
    };
    const reply: Reply = (sent) => (sent.token === "pat_old_0123456789" ? status(401) : good(sent));
    const service = scriptedFetch((sent) => after(1 + (sent.index % 7), reply)(sent));
    const client = service.client({ token, maxConcurrency });
    const settled = await allEnded(Array.from({ length: 60 }, (_, index) => client.sessions.get(`${index}`)));
    expect(settled.filter(({ error }) => error !== undefined)).toEqual([]);
  },
);

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
  await fc.assert(isSent, { numRuns: shareOf(60) });
});
