/** Rate limiters of the caller's own: how they are asked, and what ends a call if they fail. */
import { expect, test } from "vitest";
import {
  isAutomationError,
  type Permit,
  type RateLimiter,
  type RateLimitHead,
  type ReportedPause,
} from "../../../../src/client/index.ts";
import { ended, fakeTime } from "../../../support/fake-time.ts";
import { good, responds, tooMany } from "../../../support/replies.ts";
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
  ["acquire throws", admitting({ acquire: raise })],
  ["acquire rejects", admitting({ acquire: () => Promise.reject(new Error("no")) })],
])("%s: the call ends with an error of this package, and nothing is sent", async (_, rateLimiter) => {
  const service = scriptedFetch(good);
  const { error } = await ended(service.client({ rateLimiter }).sessions.get("1"));
  expect(isAutomationError(error)).toBe(true);
  expect(error).toMatchObject({ kind: "connection", outcome: "not_sent", attempts: 0 });
  expect(service.sent).toEqual([]);
});

test.each<[string, Partial<Permit>]>([
  ["report throws", { report: raise }],
  ["report rejects", { report: () => Promise.reject(new Error("no")) as never }],
  ["release throws", { release: raise }],
])("%s: no response is lost", async (_, verbs) => {
  const issue = { id: "iss_1", title: "t", type: "bug" };
  const service = scriptedFetch(responds(201, {}, JSON.stringify(issue)), responds(403, {}, '{"error":"no"}'));
  const client = service.client({ rateLimiter: admitting(verbs), validation: "lenient" });
  const create = () => ended(client.issues.create("web", { title: "t", type: "bug" }));
  expect((await create()).value).toEqual(issue);
  expect((await create()).error).toMatchObject({ kind: "permission", status: 403, outcome: "rejected" });
});

test("snapshot throws: a call waits for its turn all the same", async () => {
  const acquire = async () => {
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    return { kind: "admitted" } as const;
  };
  const service = scriptedFetch(good);
  const client = service.client({ rateLimiter: { ...admitting({ acquire }), snapshot: raise }, onEvent: () => {} });
  expect((await ended(client.sessions.get("1"))).value).toBeDefined();
});

test.each<[string, Partial<Permit>]>([
  ["does not say that it pauses", {}],
  ["says that the call does not wait", { report: () => ({ pauseMs: 0, waits: false }) }],
])("one that %s: a 429 ends the call", async (_, verbs) => {
  const service = scriptedFetch(tooMany(1));
  const { error } = await ended(service.client({ rateLimiter: admitting(verbs) }).sessions.get("1"));
  expect(error).toMatchObject({ kind: "rate_limit", status: 429, attempts: 1, retryAfterMs: 1_000 });
  expect(service.sent).toHaveLength(1);
});

test.each([503, 401])("one that pauses after a %i, too: a write is sent once", async (status) => {
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

function raise(): never {
  throw new Error("no");
}
