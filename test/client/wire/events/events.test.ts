import { describe, expect, test } from "vitest";
import { Client, type ClientEvent, type Logger } from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { json } from "../../../support/replies.ts";
import { openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire();
const session = (headers = {}): Response => json({ id: "s", state: "on" }, 200, headers);

function recorder(): { events: ClientEvent[]; onEvent: (event: ClientEvent) => void; types: () => string[] } {
  const events: ClientEvent[] = [];
  return { events, onEvent: (event) => void events.push(event), types: () => events.map(({ type }) => type) };
}

test("a call that succeeds at once emits request and response, with all their fields", async () => {
  wire.script(session({ "x-request-id": "req_1" }));
  const { events, onEvent } = recorder();
  const before = Date.now();
  await wire.client({ onEvent }).sessions.get("secret-id");
  const base = {
    callId: expect.any(String),
    operation: "sessions.get",
    attempt: 1,
    at: expect.any(Number),
  };
  const waits = { queueMs: expect.any(Number), tokenMs: expect.any(Number) };
  const durations = { ...waits, headersMs: expect.any(Number), bodyMs: expect.any(Number) };
  expect(events).toMatchObject([
    { ...base, ...waits, type: "request", method: "GET", path: "/sessions/{id}" },
    { ...base, ...durations, type: "response", status: 200, requestId: "req_1" },
    { ...base, type: "end", ok: true, outcome: "accepted", status: 200, attempts: 1, durationMs: expect.any(Number) },
  ]);
  for (const event of events) {
    expect(event.at).toBeGreaterThanOrEqual(before);
    expect(event.at).toBeLessThanOrEqual(Date.now());
    for (const value of Object.values(event))
      expect(["string", "number", "boolean", "undefined"]).toContain(typeof value);
    expect(JSON.stringify(event)).not.toContain("secret-id");
  }
});

test("a retry has its reason, its delay and the attempt number", async () => {
  wire.script(json({}, 503), json({}, 429, { "retry-after": "0" }), session());
  const { events, onEvent, types } = recorder();
  await wire.client({ onEvent, retry: { minDelayMs: 0 } }).sessions.get("s");
  expect(types().filter((type) => !type.startsWith("rate_limit"))).toEqual([
    ...["request", "response", "retry", "request", "response", "retry", "request", "response", "end"],
  ]);
  const retries = events.filter((event) => event.type === "retry");
  expect(retries).toMatchObject([
    { reason: "server_error", status: 503, attempt: 1, delayMs: 0 },
    { reason: "rate_limit", status: 429, attempt: 2, delayMs: expect.any(Number) },
  ]);
  expect(events.filter((event) => event.type === "request").map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(new Set(events.map(({ callId }) => callId)).size).toBe(1);
});

test("a pause and its end emit one event each, however many calls wait for it", async () => {
  let paused = true;
  wire.reply(() => {
    if (!paused) return session();
    paused = false;
    return json({}, 429, { "retry-after": "0.05" });
  });
  const { events, onEvent, types } = recorder();
  const client = wire.client({ onEvent, maxConcurrency: 1 });
  await Promise.all(Array.from({ length: 5 }, (_, index) => client.sessions.get(`s${index}`)));
  expect(types().filter((type) => type.startsWith("rate_limit"))).toEqual(["rate_limit_pause", "rate_limit_resume"]);
  expect(events.find((event) => event.type === "rate_limit_pause")).toMatchObject({ delayMs: expect.any(Number) });
});

test("another token after a 401 emits token_refresh, and its retry", async () => {
  wire.script(json({}, 401), session());
  const { events, onEvent, types } = recorder();
  let asked = 0;
  await wire.client({ onEvent, token: () => `pat_${++asked}` }).sessions.get("s");
  expect(types()).toEqual(["request", "response", "retry", "token_refresh", "request", "response", "end"]);
  expect(events[2]).toMatchObject({ reason: "unauthorized", delayMs: 0, status: 401 });
});

test("no token_refresh and no retry without another token", async () => {
  wire.script(json({}, 401));
  const { onEvent, types } = recorder();
  await rejection(wire.client({ onEvent }).sessions.get("s"));
  expect(types()).toEqual(["request", "response", "end"]);
});

test("all events of a call, its hooks, its log lines and its error have the same id", async () => {
  const ids = new Set<unknown>();
  const see = ({ callId }: { callId: string }): void => void ids.add(callId);
  const line = (_: string, { callId }: { callId?: unknown }): void => void ids.add(callId);
  const client = new Client({
    baseUrl: "https://service.example.com/api/v1",
    token: "t",
    retry: { minDelayMs: 0 },
    fetch: async () => json({}, 503),
    onEvent: see,
    logger: { debug: line, info: line, warn: line, error: line },
    logLevel: "debug",
  });
  const error = await rejection(client.sessions.get("s", { onRequest: see, onResponse: see }));
  expect([...ids]).toEqual([expect.stringMatching(/^call_\w*_\d+$/)]);
  expect(error).toMatchObject({ kind: "server", callId: [...ids][0] });
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ callId: [...ids][0] });
});

test("a call that was not sent has its id in its error, an argument that was refused has none", async () => {
  const client = new Client({ baseUrl: "https://service.example.com/api/v1", token: "t" });
  const aborted = await rejection(client.sessions.get("s", { signal: AbortSignal.abort() }));
  expect(aborted).toMatchObject({ kind: "abort", callId: expect.stringMatching(/^call_/) });
  expect(await rejection(client.sessions.get(""))).not.toHaveProperty("callId");
});

function throws(): never {
  throw new Error("listener");
}

describe("a listener that throws or never settles breaks nothing", () => {
  const BAD: Readonly<Record<string, () => unknown>> = {
    throws,
    rejects: () => Promise.reject(new Error("listener")),
    hangs: () => new Promise(() => {}),
    "gives a thenable that throws": () => new Proxy(Promise.resolve(), { get: throws }),
    "gives a hostile object": () => new Proxy({}, { has: throws, get: throws }),
  };

  test.each(Object.entries(BAD))("a logger %s", async (_, listener) => {
    wire.script(json({}, 503), session());
    const { events, onEvent } = recorder();
    const logger = { debug: listener, info: listener, warn: listener, error: listener } as Logger;
    expect(
      await wire.client({ onEvent, logger, logLevel: "debug", retry: { minDelayMs: 0 } }).sessions.get("s"),
    ).toMatchObject({
      id: "s",
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(events.length).toBe(6);
  });
});

test("a logger is called as a method, with one line of text and its fields each", async () => {
  wire.script(json({}, 503), session());
  class Pino {
    readonly lines: string[] = [];
    readonly fields: unknown[] = [];
    debug(...args: unknown[]): void {
      this.lines.push(`debug ${String(args[0])}`);
      this.fields.push(args[1]);
    }
    info(...args: unknown[]): void {
      this.lines.push(`info ${String(args[0])}`);
      this.fields.push(args[1]);
    }
    warn(): void {}
    error(): void {}
  }
  const logger = new Pino();
  await wire.client({ logger, logLevel: "debug", retry: { minDelayMs: 0 } }).sessions.get("s");
  expect(logger.lines.map((line) => line.split(" ")[0])).toEqual(["debug", "debug", "info", "debug", "debug"]);
  expect(logger.fields[0]).toMatchObject({ operation: "sessions.get", attempt: 1, callId: expect.any(String) });
  expect(logger.fields[1]).toMatchObject({ status: 503, headersMs: expect.any(Number) });
  for (const line of logger.lines) expect(line).toMatch(/^\w+ \[call_\w+\] sessions\.get: [^\n|]+$/);
});
