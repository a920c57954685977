/** The parents of spans, and the trace context in requests. */
import { context, trace } from "@opentelemetry/api";
import { isTracingSuppressed } from "@opentelemetry/core";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Client, rotatingToken } from "../../src/client/index.ts";
import { instrument, type TelemetrySettings } from "../../src/opentelemetry/index.ts";
import { drain } from "../support/promises.ts";
import { json, pagesOf } from "../support/replies.ts";
import { openWire } from "../support/scripted-fetch.ts";
import { registeredTelemetry, type Traced } from "../support/telemetry.ts";

const wire = openWire("msw");
const recorded = registeredTelemetry();
afterEach(() => {
  vi.unstubAllGlobals();
});

const session = (): Response => json({ id: "s", state: "on" });
const client = (settings?: TelemetrySettings): Client =>
  wire.client(instrument({ retry: { minDelayMs: 0 }, maxConcurrency: 2 }, settings));

/** Runs a function within a span of the application. */
async function within<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  return trace.getTracer("application").startActiveSpan(name, async (span) => {
    try {
      return await work();
    } finally {
      span.end();
    }
  });
}

const below = (name: string): readonly Traced[] =>
  recorded()
    .traces()
    .find((root) => root.name === name)?.children ?? [];

const sent = (): readonly (string | null)[] => wire.sent.map(({ headers }) => headers.get("traceparent"));

/** The expected `traceparent` of the attempts, in order. */
const expected = (): readonly string[] =>
  recorded()
    .spans()
    .filter(({ name }) => name.startsWith("GET "))
    .map((span) => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`);

describe("parents", () => {
  test("calls at once, each with its own", async () => {
    wire.reply(({ path, index }) => (index < 4 && path.endsWith("odd") ? json({}, 503) : session()));
    const one = client();
    const names = Array.from({ length: 8 }, (_, index) => `work ${index}`);
    await Promise.all(
      names.map((name, index) => within(name, () => one.sessions.get(index % 2 === 1 ? "odd" : "even"))),
    );
    for (const name of names) {
      const [call, ...more] = below(name);
      expect(more).toEqual([]);
      expect(call?.name).toBe("sessions.get");
      const statuses = call?.children.map(({ attributes }) => attributes["http.response.status_code"]) ?? [];
      expect(statuses.at(-1)).toBe(200);
      expect(statuses.slice(0, -1).every((status) => status === 503)).toBe(true);
    }
    expect(recorded().traces()).toHaveLength(8);
    const ids = recorded()
      .spans()
      .map((span) => span.spanContext().traceId);
    expect(new Set(ids).size).toBe(8);
  });

  test("a walk: a span for each page's call", async () => {
    wire.reply(pagesOf(["a", "b"], ["c"], ["d"]));
    const { items } = await within("walk", () => drain(client().projects.list()));
    expect(items).toHaveLength(4);
    expect(below("walk").map(({ name, attributes }) => [name, attributes["project_automation.walk.pages"]])).toEqual([
      ["projects.list", 1],
      ["projects.list", 2],
      ["projects.list", 3],
    ]);
    expect(below("walk").at(-1)?.attributes["project_automation.walk.items"]).toBe(4);
  });

  test("the rotation of a rotating token is a call of its own, in the context in which the token was made", async () => {
    const replacement = { id: "tok_2", key_id: "k2", name: "n", scopes: [], plaintext: "emu_k2_second" };
    const expires_at = "2030-01-01T00:00:00Z";
    wire.script(json({ ...replacement, expires_at, created_at: expires_at }), session());
    const old = { id: "tok_1", plaintext: "emu_k1_first", expires_at: new Date(Date.now() + 1_000).toISOString() };
    const made = await within("start", async () => ({
      token: rotatingToken({ token: old, renewBeforeMs: 60_000, onRotated: () => {} }),
    }));
    await within("work", () => wire.client(instrument(made)).sessions.get("s"));
    const calls = [...below("start"), ...below("work")].map(
      ({ name, children }) => [name, children.map((one) => one.name)] as const,
    );
    expect(Object.fromEntries(calls)).toEqual({
      "sessions.get": ["GET /sessions/{id}"],
      "tokens.rotate": ["POST /me/tokens/{id}/rotate"],
    });
    expect(below("start")).toHaveLength(1);
    expect(sent()[0]).not.toBe(sent()[1]);
  });
});

describe("what is sent along", () => {
  test("each attempt has its own traceparent, also the one after a 429 or with another token", async () => {
    wire.script(json({}, 429, { "retry-after": "0" }), json({}, 401), session());
    const token = ({ rejected }: { rejected?: string | undefined }): string => (rejected === undefined ? "one" : "two");
    await wire.client(instrument({ token })).sessions.get("s");
    expect(sent()).toEqual(expected());
    expect(new Set(sent()).size).toBe(3);
  });

  test("in a browser nothing is sent by default", async () => {
    wire.reply(session);
    vi.stubGlobal("location", new URL("https://app.example.com/"));
    await client().sessions.get("s");
    await client({ propagate: true }).sessions.get("s");
    expect(sent()).toEqual([null, expected()[1]]);
    expect(wire.sent[0]?.headers.get("tracestate")).toBeNull();
  });

  test("sends no trace context if it is switched off", async () => {
    wire.reply(session);
    await client({ propagate: false }).sessions.get("s");
    expect(sent()).toEqual([null]);
  });
});

test("fetch runs in the context of its attempt, which suppresses other tracing of the same request", async () => {
  wire.reply(session);
  const inside: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    inside.push([trace.getActiveSpan()?.spanContext().spanId, isTracingSuppressed(context.active())]);
    trace.getTracer("another").startSpan("the same once more").end();
    return globalThis.fetch(input, init);
  };
  await wire.client(instrument({ fetch })).sessions.get("s");
  const attempt = recorded()
    .spans()
    .find(({ name }) => name === "GET /sessions/{id}");
  expect(inside).toEqual([[attempt?.spanContext().spanId, true]]);
  expect(
    recorded()
      .spans()
      .map(({ name }) => name),
  ).toEqual(["GET /sessions/{id}", "sessions.get"]);
});
