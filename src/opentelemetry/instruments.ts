import type { Gauge, Histogram, MeterProvider } from "@opentelemetry/api";
import { VERSION } from "../client/index.ts";
import { METRICS } from "./names.ts";

/** All measurements. Durations are in seconds. */
export interface Instruments {
  /** Of an attempt. */
  readonly request: Histogram;
  /** Of a call, all its waits and attempts included. */
  readonly call: Histogram;
  /** Of one wait before an attempt. */
  readonly wait: Histogram;
  /** Requests that the service says are left. */
  readonly remaining: Gauge;
}

/** Bounds that the HTTP conventions advise. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** A call waits for pauses, most of which end with a window of a minute. */
const CALL_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

export function instrumentsOf(provider: MeterProvider): Instruments {
  const meter = provider.getMeter("project-automation", VERSION);
  const seconds = (name: string, description: string, buckets: number[]): Histogram =>
    meter.createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: buckets } });
  return {
    request: seconds(METRICS.request, "Duration of HTTP client requests.", REQUEST_BUCKETS),
    call: seconds(METRICS.call, "Duration of calls, with all their waits and attempts.", CALL_BUCKETS),
    wait: seconds(METRICS.wait, "Duration of waits before a request is sent.", CALL_BUCKETS),
    remaining: meter.createGauge(METRICS.remaining, {
      description: "Requests left in the rate limit's window, as the latest answer says.",
      unit: "{request}",
    }),
  };
}
