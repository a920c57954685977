/** The caller's baggage, which names users and tenants, stays at home unless it is asked for. */
import { context, propagation } from "@opentelemetry/api";
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from "@opentelemetry/core";
import { beforeEach, describe, expect, test } from "vitest";
import { instrument, type TelemetrySettings } from "../../src/opentelemetry/index.ts";
import { json } from "../support/replies.ts";
import { openWire } from "../support/scripted-fetch.ts";
import { registeredTelemetry } from "../support/telemetry.ts";

const wire = openWire();
registeredTelemetry();
beforeEach(() => {
  propagation.disable();
  propagation.setGlobalPropagator(
    new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
  );
});

const BAGGAGE = propagation.createBaggage({ "user.email": { value: "ada@example.com" } });

/** What is sent along by a call whose caller has baggage. */
async function sentBy(settings?: TelemetrySettings): Promise<Record<string, string | null>> {
  wire.script(json({}, 503), json({ id: "s", state: "on" }));
  const client = wire.client(instrument({ retry: { minDelayMs: 0 } }, settings));
  const caller = propagation.setBaggage(context.active(), BAGGAGE);
  await context.with(caller, () => client.sessions.get("s"));
  expect(wire.sent).toHaveLength(2);
  const headers = wire.sent.map((seen) => seen.headers);
  expect(headers[0]?.get("baggage")).toBe(headers[1]?.get("baggage"));
  return { baggage: headers[0]?.get("baggage") ?? null, traceparent: headers[0]?.get("traceparent") ?? null };
}

describe("baggage", () => {
  const traceparent = expect.stringMatching(/^00-/);

  test("is not sent by default, and the trace context is", async () => {
    expect(await sentBy()).toEqual({ baggage: null, traceparent });
  });

  test("is sent with baggage: true", async () => {
    expect(await sentBy({ baggage: true })).toEqual({ baggage: "user.email=ada%40example.com", traceparent });
  });
});
