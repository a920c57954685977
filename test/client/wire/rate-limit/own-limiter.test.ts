/** Rate limiters of the caller's own, also such as violate their contract. */
import { expect, test } from "vitest";
import {
  isAutomationError,
  memoryRateLimiter,
  type Permit,
  type RateLimiter,
  type RateLimitHead,
  type ReportedPause,
} from "../../../../src/client/index.ts";
import { allEnded, ended, fakeNow, fakeTime, finish, pass } from "../../../support/fake-time.ts";
import { after, good, responds, tooMany } from "../../../support/replies.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

/** A limiter that admits every call and knows nothing, with some verbs replaced. */
function admitting(verbs: Partial<Permit> = {}): RateLimiter {
  const permit: Permit = {
    acquire: () => ({ kind: "admitted" }),
    report: () => undefined,
    release: () => undefined,
    ...verbs,
  };
  return { enter: () => permit, snapshot: () => undefined };
}

test.each<[string, RateLimiter]>([
  ["enter throws", { ...admitting(), enter: raise }],
  [
    "enter rejects",
    { ...admitting(), enter: (() => Promise.reject(new Error("no"))) as unknown as RateLimiter["enter"] },
  ],
  ["acquire throws", admitting({ acquire: raise })],
  ["acquire rejects", admitting({ acquire: () => Promise.reject(new Error("no")) })],
  ["acquire throws nothing that can be shown", admitting({ acquire: () => Promise.reject({}) })],
  ["acquire returns nothing", admitting({ acquire: (() => undefined) as unknown as Permit["acquire"] })],
  ["acquire resolves with nothing", admitting({ acquire: (async () => null) as unknown as Permit["acquire"] })],
  ["acquire returns an admission of no kind", admitting({ acquire: () => ({ kind: "moved" }) as never })],
  ["acquire resolves with an admission of no kind", admitting({ acquire: async () => ({ kind: "moved" }) as never })],
])(
  "%s: the call rejects with an error of this package, nothing is sent, and no timer is left",
  async (_, rateLimiter) => {
    const service = scriptedFetch(good);
    const client = service.client({ rateLimiter, totalTimeoutMs: 60_000, retry: false, onEvent: () => {} });
    const { error } = await ended(client.sessions.get("1"));
    expect(isAutomationError(error)).toBe(true);
    expect(error).toMatchObject({ kind: "connection", outcome: "not_sent", attempts: 0 });
    expect(String(error)).toMatch(/sessions\.get: the rateLimiter failed(?: \(.+\))?$/);
    expect(service.sent).toEqual([]);
  },
);

const throwing: readonly [string, Partial<Permit>][] = [
  ["report", { report: raise }],
  ["release", { release: raise }],
  ["report and release", { report: raise, release: raise }],
];

test.each(throwing)("%s that throws loses no success: not the one-time secret either", async (_, verbs) => {
  const token = { id: "tok_1", key_id: "k", name: "n", scopes: [], expires_at: "2030-01-01T00:00:00Z" };
  const service = scriptedFetch(responds(201, {}, JSON.stringify({ ...token, plaintext: "pat_once_0123456789" })));
  const client = service.client({ rateLimiter: admitting(verbs) });
  const { value, error } = await ended(client.tokens.create({ name: "n", scopes: [] }));
  expect(error).toBeUndefined();
  expect(value).toMatchObject({ plaintext: "pat_once_0123456789" });
  expect(service.sent).toHaveLength(1);
});

test("snapshot that throws loses no success, and what is known of the limit is nothing", async () => {
  const tokens = ["pat_1", "pat_2", "pat_1"];
  const service = scriptedFetch(good);
  const pausing = admitting({
    acquire: async () => ({ kind: "admitted" }),
    report: () => ({ pauseMs: 1_000, waits: true }),
  });
  const client = service.client({
    rateLimiter: { ...pausing, snapshot: raise },
    token: () => tokens.shift() ?? "pat_2",
    onEvent: () => {},
  });
  for (const _ of [1, 2, 3]) expect((await ended(client.sessions.get("1"))).error).toBeUndefined();
  expect(client.rateLimit).toBeUndefined();
});

test("snapshot whose pausedUntil is not a Date: calls pass, and no pause is told", async () => {
  const snapshot = (() => ({ pausedUntil: "soon" })) as unknown as RateLimiter["snapshot"]; // not what the port says
  const rateLimiter = { ...admitting({ acquire: async () => ({ kind: "admitted" }) }), snapshot };
  const events: string[] = [];
  const client = scriptedFetch(good).client({ rateLimiter, onEvent: ({ type }) => events.push(type) });
  expect((await ended(client.sessions.get("1"))).error).toBeUndefined();
  expect(events).toEqual(["request", "response", "end"]);
});

test.each(throwing)("%s that throws: a refusal is that refusal", async (_, verbs) => {
  const service = scriptedFetch(responds(403));
  const { error } = await ended(service.client({ rateLimiter: admitting(verbs) }).sessions.get("1"));
  expect(error).toMatchObject({ kind: "permission", outcome: "rejected", attempts: 1 });
});

test.each<[string, Partial<Permit>]>([
  ["admits everything", {}],
  ["throws in report", { report: raise }],
  ["says that the call does not wait", { report: () => ({ pauseMs: 0, waits: false }) }],
])("one that %s never makes a 429 a loop: the call ends with it", async (_, verbs) => {
  const service = scriptedFetch(tooMany(1));
  const { error } = await ended(service.client({ rateLimiter: admitting(verbs) }).sessions.get("1"));
  expect(error).toMatchObject({ kind: "rate_limit", status: 429, attempts: 1, retryAfterMs: 1_000 });
  expect(service.sent).toHaveLength(1);
});

test.each([500, 503, 408, 401, 400])("one that pauses after a %i, too: a write is sent once", async (status) => {
  const service = scriptedFetch(responds(status, { "retry-after": "0" }));
  const rateLimiter = admitting({ report: () => ({ pauseMs: 0, waits: true }) });
  const { error } = await ended(service.client({ rateLimiter }).issues.create("web", { title: "t", type: "bug" }));
  expect(error).toMatchObject({ status, attempts: 1 });
  expect(service.sent).toHaveLength(1);
});

test("with retry: false a 429 ends the call, whatever the limiter says", async () => {
  const service = scriptedFetch(tooMany(1), good);
  const rateLimiter = admitting({ report: () => ({ pauseMs: 0, waits: true }) });
  const { error } = await ended(service.client({ rateLimiter, retry: false }).sessions.get("1"));
  expect(error).toMatchObject({ kind: "rate_limit", attempts: 1 });
});

test("each request is admitted, reported and released, with the token that it is sent with", async () => {
  const calls: string[] = [];
  const rateLimiter = admitting({
    acquire: async (token) => {
      calls.push(`acquire ${token}`);
      return { kind: "admitted" };
    },
    report: ({ status }) => {
      calls.push(String(status));
      return { pauseMs: 0, waits: true };
    },
    release: () => void calls.push("release"),
  });
  const service = scriptedFetch(responds(500), responds(429), good);
  await ended(service.client({ rateLimiter, token: "pat_1" }).sessions.get("1"));
  expect(calls).toEqual(["500", "429", "200"].flatMap((status) => ["acquire pat_1", status, "release"]));
});

test("report is told what the response says of the limit, as plain data that another thread can be sent, and no headers", async () => {
  const reported: RateLimitHead[] = [];
  const report = (head: RateLimitHead): ReportedPause => {
    reported.push(structuredClone(head));
    return { pauseMs: 0, waits: true };
  };
  const headers = { "ratelimit-limit": "600", "ratelimit-remaining": "0", "retry-after": "1", "set-cookie": "a=b" };
  const service = scriptedFetch(responds(429, headers), good);
  const { value } = await ended(service.client({ rateLimiter: admitting({ report }) }).sessions.get("1"));
  expect(value).toBeDefined();
  expect(reported).toStrictEqual([
    { status: 429, limit: 600, remaining: 0, retryAfterMs: 1_000 },
    { status: 200, limit: undefined, remaining: undefined, retryAfterMs: undefined },
  ]);
});

test.each<[string, { readonly abortAfterMs?: number; readonly totalTimeoutMs?: number }, object]>([
  ["is aborted", { abortAfterMs: 1_000 }, { kind: "abort" }],
  ["runs out of time", { totalTimeoutMs: 1_000 }, { kind: "timeout", phase: "queue" }],
])("acquire never settles, and the call %s: it ends then, and its permit is released", async (_, ends, expected) => {
  let released = 0;
  const rateLimiter = admitting({
    acquire: () => new Promise(() => {}),
    release: () => {
      released += 1;
    },
  });
  const service = scriptedFetch(good);
  const { abortAfterMs, ...limits } = ends;
  const controller = new AbortController();
  if (abortAfterMs !== undefined) setTimeout(() => controller.abort(), abortAfterMs);
  const began = fakeNow();
  const { error } = await ended(
    service.client({ rateLimiter, ...limits }).sessions.get("1", { signal: controller.signal }),
  );
  expect(error).toMatchObject({ ...expected, outcome: "not_sent", attempts: 0 });
  expect(fakeNow() - began).toBeLessThan(1_100);
  expect(released).toBe(1);
  expect(service.sent).toEqual([]);
});

function raise(): never {
  throw new Error("no");
}

test.each<[string, Partial<Permit>]>([
  ["at once", {}],
  ["after a turn", { acquire: async () => ({ kind: "admitted" }) }],
])("report that promises a wait, and acquire that admits %s: the 429 ends the call", async (_, verbs) => {
  for (const pauseMs of [0, 60_000]) {
    const service = scriptedFetch(tooMany(60));
    const rateLimiter = admitting({ report: () => ({ pauseMs, waits: true }), ...verbs });
    const client = service.client({ rateLimiter, retry: { rateLimitWaits: 2 } });
    const { error } = await ended(client.sessions.get("1"));
    expect(error).toMatchObject({ kind: "rate_limit", attempts: 3 });
    expect(service.sent).toHaveLength(3);
  }
});

test("report that rejects loses no success, and is no unhandled rejection", async () => {
  const service = scriptedFetch(good);
  const report = (() => Promise.reject(new Error("no"))) as unknown as Permit["report"]; // not what the port says
  const client = service.client({ rateLimiter: admitting({ report }) });
  expect((await ended(client.sessions.get("1"))).error).toBeUndefined();
});

test("snapshot that rejects loses no success, and is no unhandled rejection", async () => {
  const service = scriptedFetch(good);
  const snapshot = (() => Promise.reject(new Error("no"))) as unknown as RateLimiter["snapshot"]; // not what the port says
  const rateLimiter = { ...admitting({ acquire: async () => ({ kind: "admitted" }) }), snapshot };
  const client = service.client({ rateLimiter, onEvent: () => {} });
  expect((await ended(client.sessions.get("1"))).error).toBeUndefined();
});

test.each<[string, Permit["acquire"]]>([
  ["throws", raise],
  ["rejects", () => Promise.reject(new Error("no"))],
  ["gives no admission", async () => ({ kind: "moved" }) as never], // not what the port says
])("one whose acquire %s after it has taken a slot is told to release it", async (_, ends) => {
  const inner = memoryRateLimiter();
  const rateLimiter: RateLimiter = {
    enter: (call) => {
      const permit = inner.enter({ ...call, maxConcurrency: 1 });
      const acquire: Permit["acquire"] = (token) => {
        void permit.acquire(token);
        return ends(token);
      };
      return { acquire, report: (head) => permit.report(head), release: () => permit.release() };
    },
    snapshot: (token) => inner.snapshot(token),
  };
  const client = scriptedFetch(good).client({ rateLimiter, retry: false, token: "pat_1" });
  for (let call = 0; call < 3; call += 1) await ended(client.sessions.get("1"));
  const next = inner.enter({
    ...{ service: client.baseUrl, maxConcurrency: 1, maxPauses: 0, maxPauseMs: 0, endsAt: Infinity, timeoutMs: 1_000 },
    signal: new AbortController().signal,
  });
  expect(next.acquire("pat_1")).toEqual({ kind: "admitted" });
  next.release();
});

test("a limiter that is passed waits through more pauses than rateLimitWaits as long as the queue moves, as the client's own does", async () => {
  // One request gets through in each window of a second.
  let window = -1;
  const service = scriptedFetch((sent) => {
    const present = Math.floor(sent.at / 1_000);
    if (present === window) return tooMany(1)(sent);
    window = present;
    return good(sent);
  });
  const client = service.client({ rateLimiter: memoryRateLimiter(), maxConcurrency: 3, retry: { rateLimitWaits: 2 } });
  const settled = await allEnded(Array.from({ length: 8 }, (_, id) => client.sessions.get(`${id}`)));
  expect(settled.filter(({ error }) => error !== undefined)).toEqual([]);
});

test("a wait that was left and fails afterwards does not free the slot of the wait that followed", async () => {
  const log: string[] = [];
  let fail = (_: Error): void => {};
  const rateLimiter: RateLimiter = {
    enter: () => ({
      acquire: (token) => {
        log.push(`acquire ${token}`);
        if (token === "new-token") return { kind: "admitted" };
        return new Promise<never>((_, reject) => {
          fail = reject;
        });
      },
      report: () => undefined,
      release: () => void log.push("release"),
    }),
    snapshot: () => undefined,
  };
  const service = scriptedFetch((sent) => {
    fail(new Error("too late"));
    return after(10, good)(sent);
  });
  const client = service.client({ rateLimiter, token: "old-token" });
  const call = client.sessions.get("1");
  await pass(10);
  client.setToken("new-token");
  await finish(call);
  expect(log).toEqual(["acquire old-token", "release", "acquire new-token", "release"]);
});
