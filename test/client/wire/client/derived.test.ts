import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ConfigError } from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { json, pagesOf } from "../../../support/replies.ts";
import { BASE, openWire, TOKEN } from "../../../support/scripted-fetch.ts";

const wire = openWire();
const session = (): Response =>
  json({ id: "s", state: "on" }, 200, { "ratelimit-limit": "60", "ratelimit-remaining": "59" });
const authorizations = (): (string | null)[] => wire.sent.map(({ headers }) => headers.get("authorization"));
const other = "pat_other_9876543210";

describe("withOptions", () => {
  test("replaces the options that are passed, keeps the others, and does not change the first client", async () => {
    wire.reply(session);
    const first = wire.client({ headers: { "x-a": "1", "x-b": "1" } });
    const second = first.withOptions({ headers: { "X-B": "2", "x-c": "2" }, baseUrl: `${BASE}/` });
    await second.sessions.get("s");
    await first.sessions.get("s");
    expect(wire.sent.map(({ path }) => path)).toEqual(["/sessions/s", "/sessions/s"]);
    expect(wire.sent.map(({ headers }) => ["x-a", "x-b", "x-c"].map((name) => headers.get(name)))).toEqual([
      ["1", "2", "2"],
      ["1", "1", null],
    ]);
  });

  test("retry is merged with that of the first client", async () => {
    wire.reply(() => json({}, 500));
    const first = wire.client({ retry: { attempts: 2, minDelayMs: 0 } });
    await rejection(first.withOptions({ retry: { maxDelayMs: 1 } }).sessions.get("s"));
    expect(wire.sent).toHaveLength(2);
  });

  test("undefined keeps an option", async () => {
    wire.reply(session);
    const first = wire.client({ headers: { "x-a": "1" }, validation: "lenient" });
    await first.withOptions({ headers: undefined, validation: undefined }).sessions.get("s");
    expect(wire.sent[0]?.headers.get("x-a")).toBe("1");
    wire.reply(() => json({ odd: true }));
    expect(await first.withOptions({}).sessions.get("s")).toEqual({ odd: true });
  });

  test("shares the credential: setToken on either changes both", async () => {
    wire.reply(session);
    const first = wire.client();
    const second = first.withOptions({ retry: false }).withOptions({ timeoutMs: 5_000 });
    first.setToken(other);
    await second.sessions.get("s");
    second.setToken(TOKEN);
    await first.sessions.get("s");
    expect(authorizations()).toEqual([`Bearer ${other}`, `Bearer ${TOKEN}`]);
  });

  test("shares the rate limiter, and with a token of its own it does not", async () => {
    wire.reply(session);
    const first = wire.client();
    const shared = first.withOptions({ timeoutMs: 5 });
    const own = first.withOptions({ token: other });
    await first.sessions.get("s");
    expect(shared.rateLimit).toMatchObject({ limit: 60, remaining: 59 });
    expect(own.rateLimit).toBeUndefined();
    own.setToken("pat_third");
    await first.sessions.get("s");
    await own.sessions.get("s");
    expect(authorizations()).toEqual([`Bearer ${TOKEN}`, `Bearer ${TOKEN}`, "Bearer pat_third"]);
  });

  test("works detached", async () => {
    wire.reply(session);
    const { withOptions, setToken, sessions } = wire.client();
    setToken(other);
    const { get } = withOptions({}).sessions;
    await get("s");
    await sessions.get("s");
    expect(authorizations()).toEqual([`Bearer ${other}`, `Bearer ${other}`]);
  });
});

describe("setToken", () => {
  test.each(["x\n", undefined, () => "x"])("refuses %o, and keeps the old one", async (token) => {
    wire.reply(session);
    const client = wire.client();
    expect(() => client.setToken(token as never)).toThrow(ConfigError);
    await client.sessions.get("s");
    expect(authorizations()).toEqual([`Bearer ${TOKEN}`]);
  });

  test("throws for a client with a token provider, and for one derived from it", () => {
    const client = wire.client({ token: () => TOKEN });
    expect(() => client.setToken(other)).toThrow(ConfigError);
    expect(() => client.withOptions({ retry: false }).setToken(other)).toThrow(ConfigError);
    client.withOptions({ token: other }).setToken(TOKEN);
  });

  test("a new token starts with no snapshot", async () => {
    wire.reply(session);
    const client = wire.client();
    expect(client.rateLimit).toBeUndefined();
    await client.sessions.get("s");
    expect(client.rateLimit?.observedAt).toBeInstanceOf(Date);
    client.setToken(other);
    expect(client.rateLimit).toBeUndefined();
  });

  test("at the event of a write, on Deno: each HTTP client of a request is closed", async () => {
    const close = vi.fn();
    const createHttpClient = vi.fn(() => ({ close }));
    vi.stubGlobal("Deno", { createHttpClient });
    onTestFinished(() => void vi.unstubAllGlobals());
    wire.reply(() => json({ number: 1, title: "t", status: "o" }, 201));
    const client = wire.client({ onEvent: ({ type }) => type === "request" && client.setToken(other) });
    await client.issues.create("web", { title: "t", type: "bug" });
    expect(authorizations()).toEqual([`Bearer ${other}`]);
    expect(close).toHaveBeenCalledTimes(createHttpClient.mock.calls.length);
    expect(close).toHaveBeenCalled();
  });
});

test("every method works detached", async () => {
  wire.reply((request) =>
    /^\/projects\?|\/(projects|sessions)$/.test(request.path)
      ? pagesOf([])(request)
      : json({
          id: "i",
          name: "n",
          key_id: "k",
          scopes: [],
          expires_at: "2030-01-01T00:00:00Z",
          plaintext: "p",
          state: "s",
          number: 1,
          title: "t",
          status: "o",
        }),
  );
  const client = wire.client();
  const { create, rotate, revoke } = client.tokens;
  const { list } = client.projects;
  const { create: createIssue } = client.issues;
  const { list: listSessions, get, waitFor, watch } = client.sessions;
  await create({ name: "n", scopes: [] });
  await rotate("t");
  await revoke("t");
  await list().toArray();
  await createIssue("p", { title: "t", type: "bug" });
  await listSessions("p").toArray();
  await get("s");
  await waitFor("s", { until: () => true });
  await watch("s")[Symbol.asyncIterator]().next();
  expect(wire.sent).toHaveLength(9);
});

test("onResponse is called once with the final response, after retries, also for an error status; what it throws is ignored", async () => {
  const seen: unknown[] = [];
  const onResponse = (info: { status: number; attempts: number; url: string; headers: Headers }): void => {
    seen.push([info.status, info.attempts, info.url, info.headers.get("x-tag")]);
    throw new Error("ignored");
  };
  wire.script(json({}, 500), json({ id: "s", state: "on" }, 200, { "x-tag": "t" }), json({}, 404), json({ odd: true }));
  const client = wire.client({ retry: { minDelayMs: 0 } });
  await client.sessions.get("s", { onResponse });
  await rejection(client.sessions.get("s", { onResponse }));
  await rejection(client.sessions.get("s", { onResponse }));
  await rejection(client.sessions.get("..", { onResponse }));
  await rejection(client.sessions.get("s", { onResponse, signal: AbortSignal.abort() }));
  const url = `${BASE}/sessions/s`;
  expect(seen).toEqual([
    [200, 2, url, "t"],
    [404, 1, url, null],
    [200, 1, url, null],
  ]);
});

test("onResponse of a walk sees each page; an async one that rejects breaks nothing", async () => {
  wire.reply(pagesOf(["a"], ["b"]));
  let pages = 0;
  const onResponse = async (): Promise<void> => {
    pages += 1;
    throw new Error("ignored");
  };
  await wire.client().projects.list({}, { onResponse }).toArray();
  expect(pages).toBe(2);
});
