import { describe, expect, test } from "vitest";
import { ArgumentError, type Client, path } from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire();
type Bad = never; // the types reject it, but callers without types may pass it

/** Throws on every access. */
function hostile(): never {
  const fails = (): never => {
    throw new Error("no");
  };
  return new Proxy({}, { get: fails, has: fails, ownKeys: fails, getPrototypeOf: fails }) as never;
}

const issue = { title: "t", type: "bug" };
const token = { name: "n", scopes: [] };
const schema = { "~standard": { version: 1, vendor: "t", validate: (value: unknown) => ({ value }) } } as const;

/** Every argument that is a path value. Each bad value is in `test/client/unit/call/path-of.test.ts`. */
const SEGMENTS: Readonly<Record<string, (client: Client, value: Bad) => Promise<unknown>>> = {
  "sessions.get": (c, value) => c.sessions.get(value),
  "sessions.waitFor": (c, value) => c.sessions.waitFor(value, { until: () => true }),
  "sessions.watch": (c, value) => c.sessions.watch(value)[Symbol.asyncIterator]().next(),
  "sessions.list": (c, value) => c.sessions.list(value).toArray(),
  "sessions.list of a record": (c, value) => c.sessions.list({ id: value }).toArray(),
  "issues.create": (c, value) => c.issues.create(value, issue),
  "issues.create of a record": (c, value) => c.issues.create({ id: value }, issue),
  "tokens.rotate": (c, value) => c.tokens.rotate(value),
  "tokens.rotate with adopt": (c, value) => c.tokens.rotate(value, { adopt: true }),
  "tokens.revoke": (c, value) => c.tokens.revoke(value),
};

describe.each(Object.entries(SEGMENTS))("path values of %s", (_, call) => {
  test.each(["..", 7])("%o is refused", async (value) => {
    expect(await refusal(() => call(wire.client(), value as Bad))).toMatchObject({ outcome: "not_sent" });
  });
});

const CASES: Readonly<Record<string, readonly ((client: Client) => unknown)[]>> = {
  "the token to create": [null, undefined, "n", [], 5].map((bad) => (c: Client) => c.tokens.create(bad as Bad)),
  "a token's name": [undefined, null, 5, {}].map(
    (name) => (c: Client) => c.tokens.create({ ...token, name: name as Bad }),
  ),
  scopes: [null, "issues:read", [1], [null], [undefined], new Array(2), new Set(["a"]), {}].map(
    (scopes) => (c: Client) => c.tokens.create({ name: "n", scopes: scopes as Bad }),
  ),
  expires_in_days: [Number.NaN, 1.5, Number.POSITIVE_INFINITY, 2 ** 53, "30", null, true, 30n].map(
    (days) => (c: Client) => c.tokens.create({ ...token, expires_in_days: days as Bad }),
  ),
  "the issue to create": [null, undefined, "t", []].map((bad) => (c: Client) => c.issues.create("p", bad as Bad)),
  "an issue's fields": [{ title: "t" }, { type: "bug" }, { title: null, type: "bug" }, { title: "t", type: 1 }, {}].map(
    (bad) => (c: Client) => c.issues.create("p", bad as Bad),
  ),
  limit: [Number.NaN, 1.5, Number.POSITIVE_INFINITY, "10", null, true, 5n, {}].flatMap((limit) => [
    (c: Client) => c.projects.list({ limit: limit as Bad }).toArray(),
    (c: Client) => c.sessions.list("p", { limit: limit as Bad }).toArray(),
  ]),
  cursor: ["", null, 5, true, {}, "\ud800"].flatMap((cursor) => [
    (c: Client) => c.projects.list({ cursor: cursor as Bad }).toArray(),
    (c: Client) => c.sessions.list("p", { cursor: cursor as Bad }).toArray(),
    (c: Client) => c.paginate({ path: path`/x`, schema, query: { cursor: cursor as Bad } }).toArray(),
  ]),
  adopt: [null, 1, "true"].map((adopt) => (c: Client) => c.tokens.rotate("t", { adopt: adopt as Bad })),
  "until and intervals": [
    undefined,
    null,
    {},
    { until: true },
    { until: () => true, intervalMs: 0 },
    { until: () => true, intervalMs: null },
    { until: () => true, intervalMs: Number.NaN },
    { until: () => true, maxIntervalMs: -1 },
    { until: () => true, maxIntervalMs: "5" },
    { until: () => true, unknown: 1 },
  ].map((options) => (c: Client) => c.sessions.waitFor("s", options as Bad)),
  "watch's options": [null, 5, { intervalMs: -1 }, { until: () => true }, { maxIntervalMs: null }].map(
    (options) => (c: Client) =>
      c.sessions
        .watch("s", options as Bad)
        [Symbol.asyncIterator]()
        .next(),
  ),
  "the custom request": [
    null,
    undefined,
    {},
    { method: "GET" },
    { method: "TRACE", path: path`/x` },
    { method: "get", path: path`/x` },
    { method: "GET", path: "/x" },
    { method: "GET", path: new URL("https://evil.example.com") },
    { method: "GET", path: { template: "/x" } },
    { method: "GET", path: path`/x`, json: {} },
    { method: "HEAD", path: path`/x`, json: 1 },
    { method: "POST", path: path`/x`, json: () => {} },
    { method: "POST", path: path`/x`, json: Symbol("s") },
    { method: "POST", path: path`/x`, json: 1n },
    { method: "POST", path: path`/x`, json: { toJSON: () => undefined } },
    { method: "POST", path: path`/x`, body: "{}" },
    { method: "GET", path: path`/x`, schema: {} },
    { method: "GET", path: path`/x`, schema: null },
    { method: "GET", path: path`/x`, schema: (value: unknown) => value },
    { method: "GET", path: path`/x`, headers: {} },
  ].map((request) => (c: Client) => c.request(request as Bad)),
  "a custom query": ["a=1", { a: null }].flatMap((query) => [
    (c: Client) => c.request({ method: "GET", path: path`/x`, query: query as Bad }),
    (c: Client) => c.paginate({ path: path`/x`, query: query as Bad, schema }).toArray(),
  ]),
  "the custom list": [
    null,
    undefined,
    {},
    { path: path`/x`, schema: null },
    { path: path`/x`, schema: {} },
    { path: "/x", schema },
    { schema },
  ].map((list) => (c: Client) => c.paginate(list as Bad).toArray()),
  "what throws when it is read": [
    (c) => c.sessions.waitFor("s", hostile()),
    (c) => c.projects.list(hostile()).toArray(),
    (c) => c.projects.list().toArray(hostile()),
  ],
  "a call's options": [
    hostile(),
    new AbortController().signal,
    new Map(),
    null,
    5,
    [],
    { unknown: 1 },
    { signal: {} },
    { timeoutMs: 0 },
    { totalTimeoutMs: "5" },
    { retry: 3 },
    { retry: { attempts: 0 } },
    { retry: { times: 3 } },
    { headers: "a: b" },
    { onRequest: 1 },
    { onResponse: "log" },
  ].flatMap((options) => [
    (c: Client) => c.sessions.get("s", options as Bad),
    (c: Client) => c.tokens.create(token, options as Bad),
    (c: Client) => c.tokens.rotate("t", options as Bad),
    (c: Client) => c.tokens.revoke("t", options as Bad),
    (c: Client) => c.issues.create("p", issue, options as Bad),
    (c: Client) => c.projects.list({}, options as Bad).toArray(),
    (c: Client) => c.request({ method: "GET", path: path`/x` }, options as Bad),
    (c: Client) => c.paginate({ path: path`/x`, schema }, options as Bad).toArray(),
  ]),
};

describe("invalid arguments reject before anything is sent, and are never thrown", () => {
  const rows = Object.entries(CASES).flatMap(([what, calls]) => calls.map((call, index) => ({ what, index, call })));
  test.each(rows)("$what, case $index", async ({ call }) => {
    await refusal(() => call(wire.client()) as Promise<unknown>);
  });
});

test("adopt with a token provider throws, and nothing is sent", async () => {
  let asked = 0;
  const provider = (): string => `pat_${++asked}`;
  const error = await refusal(() => wire.client({ token: provider }).tokens.rotate("t", { adopt: true }));
  expect(error.message).toContain("provider");
  expect(asked).toBe(0);
});

async function refusal(call: () => Promise<unknown>): Promise<ArgumentError> {
  const error = await rejection(call()); // a call that throws at once throws here, too
  expect(error).toBeInstanceOf(ArgumentError);
  expect(wire.sent).toHaveLength(0);
  return error as ArgumentError;
}
