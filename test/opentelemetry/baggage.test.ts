/** The caller's baggage, which names users and tenants, stays at home. */
import { context, propagation } from "@opentelemetry/api";
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from "@opentelemetry/core";
import { beforeEach, expect, test } from "vitest";
import { instrument } from "../../src/opentelemetry/index.ts";
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

test("baggage is not sent, and the trace context is", async () => {
  wire.script(json({}, 503), json({ id: "s", state: "on" }));
  const client = wire.client(instrument({ retry: { minDelayMs: 0 } }));
  await context.with(propagation.setBaggage(context.active(), BAGGAGE), () => client.sessions.get("s"));
  const headers = wire.sent.map((sent) => [sent.headers.get("baggage"), sent.headers.get("traceparent")]);
  expect(headers).toEqual(Array.from({ length: 2 }, () => [null, expect.stringMatching(/^00-/) as string]));
});
