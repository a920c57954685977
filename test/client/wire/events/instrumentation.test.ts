/** An instrumentation sees calls from beginning to end, and cannot break or change them. */
import { AsyncLocalStorage } from "node:async_hooks";
import { expect, test } from "vitest";
import type { CallObserver, CallStart, Instrumentation, Logger } from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { json } from "../../../support/replies.ts";
import { openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire("msw");
const session = (): Response => json({ id: "s", state: "on" });

function follower(more: CallObserver = {}): {
  instrumentation: Instrumentation;
  begun: CallStart[];
  observed: string[];
} {
  const begun: CallStart[] = [];
  const observed: string[] = [];
  const begin = (call: CallStart): CallObserver => {
    begun.push(call);
    const end: CallObserver["end"] = (error) => void observed.push(`end ${error === undefined ? "well" : error.kind}`);
    return {
      event: ({ type, callId }) => void observed.push(`${callId === call.callId ? type : "stranger"}`),
      end,
      ...more,
    };
  };
  return { instrumentation: { begin }, begun, observed };
}

test("an instrumentation sees the beginning, the events and the end of a call, with its error", async () => {
  wire.script(json({}, 503), session(), json({ error: "not_found" }, 404));
  const { instrumentation, begun, observed } = follower();
  const client = wire.client({ instrumentation, retry: { minDelayMs: 0 } });
  await client.sessions.get("secret-id");
  await rejection(client.sessions.get("secret-id"));
  const start = { operation: "sessions.get", method: "GET", path: "/sessions/{id}", baseUrl: expect.any(String) };
  expect(begun).toEqual([
    { ...start, callId: expect.stringMatching(/^call_/) },
    { ...start, callId: expect.stringMatching(/^call_/) },
  ]);
  expect(observed).toEqual([
    ...["request", "response", "retry", "request", "response", "end", "end well"],
    ...["request", "response", "end", "end not_found"],
  ]);
});

test("its headers are sent with each attempt, but do not replace those of the client", async () => {
  wire.script(json({}, 503), session());
  let attempt = 0;
  const headers = (): Record<string, string> => ({
    traceparent: `00-${++attempt}`,
    authorization: "Bearer stolen",
    "x-mine": "no",
    "bad name": "ignored",
    Cookie: "left=out",
    "x-nothing": undefined as never,
  });
  const { instrumentation } = follower({ headers });
  await wire.client({ instrumentation, headers: { "x-mine": "yes" }, retry: { minDelayMs: 0 } }).sessions.get("s");
  expect(wire.sent.map(({ headers: sent }) => sent.get("traceparent"))).toEqual(["00-1", "00-2"]);
  for (const { headers: sent } of wire.sent) {
    expect(sent.get("authorization")).not.toContain("stolen");
    expect(sent.get("x-mine")).toBe("yes");
    expect(sent.has("cookie") || sent.has("x-nothing")).toBe(false);
  }
});

test("an attempt is sent in the context of around, once, however around calls it", async () => {
  wire.reply(session);
  const context = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    seen.push(context.getStore());
    return globalThis.fetch(input, init);
  };
  let late = (): void => {};
  const ways: readonly NonNullable<CallObserver["around"]>[] = [
    (send) => context.run("its own", send),
    () => {},
    (send) => {
      send();
      send();
    },
    (send) => {
      late = send;
    },
    (send) => {
      context.run("its own", send);
      throw new Error("instrumentation");
    },
    () => Promise.reject(new Error("instrumentation")),
  ];
  for (const around of ways) {
    await wire.client({ fetch, instrumentation: { begin: () => ({ around }) } }).sessions.get("s");
    late();
  }
  expect(seen).toEqual(["its own", undefined, undefined, undefined, "its own", undefined]);
});

test("what it throws or rejects with is ignored", async () => {
  const fail = (): never => {
    throw new Error("instrumentation");
  };
  const reject = (): never => Promise.reject(new Error("instrumentation")) as never;
  wire.reply(session);
  for (const instrumentation of [
    { begin: fail },
    { begin: reject },
    follower({ event: fail, headers: fail, around: fail, end: fail }).instrumentation,
    follower({ event: reject, headers: reject, around: reject, end: reject }).instrumentation,
    { begin: () => undefined },
  ]) {
    expect(await wire.client({ instrumentation }).sessions.get("s")).toMatchObject({ id: "s" });
  }
});

test("a derived client has the same instrumentation; a logger logs failed calls, and writes that may have been applied as errors", async () => {
  const lines: string[] = [];
  const log =
    (level: string) =>
    (line: string): void =>
      void lines.push(`${level}: ${line}`);
  const logger: Logger = { debug: () => {}, info: log("info"), warn: log("warn"), error: log("error") };
  const { instrumentation, observed } = follower();
  const client = wire
    .client({ instrumentation, logger, logLevel: "info", retry: false })
    .withOptions({ timeoutMs: 5_000 });
  wire.script(json({ error: "not_found" }, 404), json({ error: "down" }, 500), json({ odd: true }, 201));
  await rejection(client.sessions.get("s"));
  await rejection(client.issues.create("web", { title: "t", type: "bug" }));
  await rejection(client.issues.create("web", { title: "t", type: "bug" }));
  expect(lines).toEqual([
    expect.stringMatching(/^info: \[call_\w+\] sessions\.get: 404 not_found$/),
    expect.stringMatching(/^error: \[call_\w+\] issues\.create: 500 down; it may have been applied/),
    expect.stringMatching(/^error: \[call_\w+\] issues\.create: 201, but the response is not of the expected shape/),
  ]);
  expect(observed.filter((line) => line.startsWith("end "))).toEqual(["end not_found", "end server", "end validation"]);
});
