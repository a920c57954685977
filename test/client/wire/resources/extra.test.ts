/** `extra`: additions to a request that the API documentation does not show, sent as they are. */
import { describe, expect, test } from "vitest";
import { type CallOptions, type Client, path } from "../../../../src/client/index.ts";
import { ProjectSchema } from "../../../../src/service/schemas/index.ts";
import { rejection } from "../../../support/promises.ts";
import { good, json, page, type Reply } from "../../../support/replies.ts";
import { openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire(); // the types reject it, but callers without types may pass it
type Call = (client: Client, options: CallOptions) => Promise<unknown>;

const issue = { title: "t", type: "bug" };
const PLAIN = {
  id: "tok_1",
  plaintext: "a_b_c",
  name: "n",
  key_id: "b",
  scopes: [],
  expires_at: "2030-01-01T00:00:00Z",
};

const METHODS: Readonly<Record<string, Call>> = {
  "tokens.create": (c, options) => c.tokens.create({ name: "n", scopes: [] }, options),
  "tokens.rotate": (c, options) => c.tokens.rotate("tok_1", options),
  "tokens.revoke": (c, options) => c.tokens.revoke("tok_1", options),
  "projects.list": (c, options) => c.projects.list({ limit: 5 }, options).page(),
  "issues.create": (c, options) => c.issues.create("web", issue, options),
  "sessions.list": (c, options) => c.sessions.list("web", {}, options).page(),
  "sessions.get": (c, options) => c.sessions.get("s", options),
  "sessions.waitFor": (c, options) => c.sessions.waitFor("s", { until: () => true, ...options }),
  "sessions.watch": (c, options) => c.sessions.watch("s", options)[Symbol.asyncIterator]().next(),
};
const EVERY = { data: [{ id: "a", name: "a", state: "on" }], next_cursor: null };
const responds: Reply = (request) => {
  if (request.path.startsWith("/me/")) return json(PLAIN);
  return request.method === "GET" && !request.path.startsWith("/sessions/") ? json(EVERY) : good(request);
};
const WITH_BODY = ["tokens.create", "issues.create"];

describe.each(Object.entries(METHODS))("%s", (name, call) => {
  test("adds parameters to the query, encoded once", async () => {
    wire.reply(responds);
    await call(wire.client(), { extra: { query: { "a b": ["x&y", 2, true], none: undefined } } });
    expect(wire.sent).toHaveLength(1);
    expect(wire.sent[0]?.path).toMatch(/[?&]a%20b=x%26y&a%20b=2&a%20b=true$/);
  });

  test(`${WITH_BODY.includes(name) ? "adds members to the body" : "refuses members of a body that it does not send"}`, async () => {
    wire.reply(responds);
    const called = call(wire.client(), { extra: { json: { note: { a: [1] }, none: undefined } } });
    if (WITH_BODY.includes(name)) {
      await called;
      expect(JSON.parse(wire.sent[0]?.body ?? "")).toMatchObject({ note: { a: [1] } });
      expect(wire.sent[0]?.body).not.toContain("none");
    } else {
      expect(await rejection(called)).toMatchObject({
        kind: "argument",
        message: `${name}: options.extra.json: this method sends no body`,
      });
      expect(wire.sent).toHaveLength(0);
    }
  });
});

describe("a name that the method sends itself is refused, also where it is left out", () => {
  test.each<[string, Call, CallOptions["extra"], string]>([
    [
      "a field of an issue",
      METHODS["issues.create"] as Call,
      { json: { title: "x" } },
      "issues.create: options.extra.json must not have title",
    ],
    [
      "an optional field",
      METHODS["tokens.create"] as Call,
      { json: { expires_in_days: 1 } },
      "tokens.create: options.extra.json must not have expires_in_days",
    ],
    [
      "a cursor",
      METHODS["projects.list"] as Call,
      { query: { cursor: "c" } },
      "projects.list: options.extra.query must not have cursor",
    ],
    [
      "a limit",
      METHODS["sessions.list"] as Call,
      { query: { limit: 5 } },
      "sessions.list: options.extra.query must not have limit",
    ],
  ])("%s", async (...[, call, extra, message]) => {
    expect(await rejection(call(wire.client(), { extra }))).toMatchObject({
      kind: "argument",
      outcome: "not_sent",
      message: `${message}, which the method sends itself`,
    });
    expect(wire.sent).toHaveLength(0);
  });
});

test.each<[string, Call]>([
  ["request", (c, options) => c.request({ method: "POST", path: path`/x`, json: {} }, options)],
  ["paginate", (c, options) => c.paginate({ path: path`/x`, schema: ProjectSchema }, options).page()],
])("%s has query and json of its own, and takes no extra", async (name, call) => {
  expect(await rejection(call(wire.client(), { extra: { query: { a: 1 } } }))).toMatchObject({
    kind: "argument",
    message: `${name}: extra is for methods of the client: this request has query and json of its own`,
  });
});

test("is the same on each page of a list, whatever becomes of the object that was passed", async () => {
  wire.script(page(["a"], "c1"), page(["b"], null));
  const extra = { query: { state: ["open"] } };
  const list = wire.client().projects.list({ limit: 1 }, { extra });
  extra.query.state.push("closed");
  expect(await list.toArray()).toHaveLength(2);
  expect(wire.sent.map((request) => request.path)).toEqual([
    "/projects?limit=1&state=open",
    "/projects?limit=1&cursor=c1&state=open",
  ]);
});

test("is sent again with each attempt, byte for byte", async () => {
  wire.script(json({}, 429, { "retry-after": "0" }), json({ number: 1, title: "t", status: "open" }, 201));
  const extra = { query: { notify: false }, json: { labels: ["a"] } };
  await wire.client().issues.create("web", issue, { extra });
  expect(wire.sent.map(({ path, body }) => [path, body])).toEqual(
    Array(2).fill(["/projects/web/issues?notify=false", '{"title":"t","type":"bug","labels":["a"]}']),
  );
});
