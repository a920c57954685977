/** The settings and the result of `instrument`, and telemetry that is missing, late or broken. */
import { context, metrics, trace } from "@opentelemetry/api";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import { afterEach, describe, expect, test } from "vitest";
import { ConfigError, type Instrumentation, VERSION } from "../../src/client/index.ts";
import { instrument } from "../../src/opentelemetry/index.ts";
import { rejection } from "../support/promises.ts";
import { json } from "../support/replies.ts";
import { openWire } from "../support/scripted-fetch.ts";
import { telemetry } from "../support/telemetry.ts";

const wire = openWire();
const session = (): Response => json({ id: "s", state: "on" });
const fail = (): never => {
  throw new Error("broken telemetry");
};

afterEach(() => {
  for (const api of [trace, metrics, context]) api.disable();
});

describe("invalid settings", () => {
  test.each([
    [
      { tracerProvider: {} },
      "settings.tracerProvider must be a TracerProvider with the method getTracer, not an object",
    ],
    [
      { meterProvider: () => {} },
      "settings.meterProvider must be a MeterProvider with the method getMeter, not a function: call it",
    ],
    [{ propagate: "yes" }, 'settings.propagate must be a boolean, not "yes"'],
    [
      { propagates: true },
      'settings must not have the unknown key "propagates" (did you mean "propagate"?); accepted: tracerProvider, meterProvider, propagate',
    ],
    [null, "settings must be an object such as { tracerProvider }, not null"],
    [[], "settings must be an object such as { tracerProvider }, not an array"],
  ])("%o", (settings, message) => {
    expect(() => instrument({}, settings as never)).toThrow(new ConfigError(message, { outcome: "not_sent" }));
  });

  test.each([
    [null, "options must be an object such as { baseUrl }, not null"],
    ["token", 'options must be an object such as { baseUrl }, not "token"'],
    [
      { instrumentation: {} },
      "options.instrumentation must be an instrumentation with the method begin, not an object",
    ],
  ])("options %o", (options, message) => {
    expect(() => instrument(options as never)).toThrow(new ConfigError(message, { outcome: "not_sent" }));
  });
});

test("the providers of the options are used, and named by this package", async () => {
  wire.reply(session);
  const { tracerProvider, meterProvider, spans, metrics: measured } = telemetry();
  await wire.client(instrument({}, { tracerProvider, meterProvider })).sessions.get("s");
  const scope = { name: "project-automation", version: VERSION };
  expect(spans()).toMatchObject([{ instrumentationScope: scope }, { instrumentationScope: scope }]);
  expect((await measured()).map(({ descriptor }) => descriptor.name)).toContain("http.client.request.duration");
});

test("an instrumentation of the client is kept, and its errors are ignored", async () => {
  wire.reply(session);
  const recorded: string[] = [];
  const instrumentation: Instrumentation = {
    begin: ({ operation }) => ({
      event: ({ type }) => void recorded.push(type),
      headers: () => ({ "x-theirs": "yes" }),
      around: (send) => {
        recorded.push("around");
        send();
      },
      end: () => void recorded.push(`${operation} ended`),
    }),
  };
  const { tracerProvider, spans } = telemetry();
  await wire.client(instrument({ instrumentation }, { tracerProvider })).sessions.get("s");
  expect(recorded).toEqual(["request", "around", "response", "end", "sessions.get ended"]);
  expect(spans()).toHaveLength(2);
  expect(wire.sent[0]?.headers.get("x-theirs")).toBe("yes");

  await wire.client(instrument({ instrumentation }, { tracerProvider: { getTracer: fail } })).sessions.get("s");
  expect(recorded.slice(5)).toEqual(["request", "around", "response", "end", "sessions.get ended"]);
});

test("a derived client is traced too", async () => {
  wire.reply(session);
  const { tracerProvider, spans } = telemetry();
  const derived = wire.client(instrument({}, { tracerProvider })).withOptions({ timeoutMs: 1_000 });
  await derived.sessions.get("s");
  expect(spans()).toHaveLength(2);
});

test("without an SDK a call sends no trace context", async () => {
  wire.reply(session);
  expect(await wire.client(instrument({})).sessions.get("s")).toMatchObject({ id: "s" });
  const [plain, traced] = [wire.client(), wire.client(instrument({}))];
  await plain.sessions.get("s");
  await traced.sessions.get("s");
  expect([...(wire.sent[2]?.headers.keys() ?? [])]).toEqual([...(wire.sent[1]?.headers.keys() ?? [])]);
});

describe("an instrumentation that throws breaks no call", () => {
  const exporter: SpanExporter = { export: fail, shutdown: async () => {} };
  const noMeter = { getMeter: () => new Proxy({}, { get: () => fail }) };
  test.each([
    ["an exporter", { tracerProvider: telemetry({ exporter }).tracerProvider }],
    ["a tracer", { tracerProvider: { getTracer: () => ({ startSpan: fail }) } }],
    ["a span", { tracerProvider: { getTracer: () => ({ startSpan: () => new Proxy({}, { get: () => fail }) }) } }],
    ["a meter", { meterProvider: noMeter }],
  ])("%s", async (_, settings) => {
    wire.script(json({}, 503), session(), json({}, 404));
    const client = wire.client(instrument({ retry: { minDelayMs: 0 } }, settings as never));
    expect(await client.sessions.get("s")).toMatchObject({ id: "s" });
    expect(await rejection(client.sessions.get("s"))).toMatchObject({ kind: "not_found" });
    expect(wire.sent).toHaveLength(3);
  });
});

test("spans that no SDK makes are said once: another copy of the API may have the SDK", async () => {
  const told: string[] = [];
  const logger = { debug: () => {}, info: () => {}, warn: (line: string) => void told.push(line), error: () => {} };
  wire.reply(session);
  const client = wire.client(instrument({ logger }));
  for (let time = 0; time < 3; time += 1) await client.sessions.get("s");
  expect(told).toEqual([expect.stringMatching(/records no spans.*npm ls @opentelemetry\/api/)]);
});
