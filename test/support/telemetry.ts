/** The SDK of OpenTelemetry, which keeps what is recorded in memory. */
import { type Attributes, context, metrics, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { MeterProvider, type MetricData, MetricReader } from "@opentelemetry/sdk-metrics";
import {
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { afterEach, beforeEach } from "vitest";

/** A span as a test looks at it, with those below it in the order in which they began. */
export interface Traced {
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  readonly attributes: Attributes;
  readonly events: readonly (readonly [string, Attributes])[];
  readonly children: readonly Traced[];
}

/** One series of a metric: what tells it apart, and how often and how much was recorded. */
export interface Series {
  readonly attributes: Attributes;
  readonly count: number;
  readonly sum: number;
}

export interface Telemetry {
  readonly tracerProvider: TracerProvider;
  readonly meterProvider: MeterProvider;
  /** All spans that have ended, as they were exported. */
  readonly spans: () => readonly ReadableSpan[];
  /** As trees. */
  readonly traces: () => readonly Traced[];
  /** What was measured so far. */
  readonly metrics: () => Promise<readonly MetricData[]>;
  /** The series of a metric; a gauge's value is its `sum`. */
  readonly series: (metric: string) => Promise<readonly Series[]>;
  /** Whatever was exported, as text. */
  readonly everything: () => Promise<string>;
}

export interface TelemetryOptions {
  readonly sampler?: Sampler;
  readonly exporter?: SpanExporter;
}

/** Reads when a test asks, and never by itself. */
class ReaderOnDemand extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** Makes an SDK that is not registered. */
export function telemetry({ sampler, exporter }: TelemetryOptions = {}): Telemetry {
  const spans: ReadableSpan[] = [];
  // The SDK's exporter that keeps them in memory sets a timer for each.
  const processor: SpanProcessor = {
    onStart: () => {},
    onEnd: (span) => void spans.push(span),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const tracerProvider = new TracerProvider({
    spanProcessors: [processor, ...(exporter === undefined ? [] : [new SimpleSpanProcessor({ exporter })])],
    ...(sampler && { sampler }),
  });
  const reader = new ReaderOnDemand();
  const meterProvider = new MeterProvider({ readers: [reader] });
  const collect = async (): Promise<readonly MetricData[]> => {
    const { resourceMetrics, errors } = await reader.collect();
    if (errors.length > 0) throw new AggregateError(errors);
    return resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  };
  return {
    tracerProvider,
    meterProvider,
    metrics: collect,
    spans: () => spans,
    traces: () => treesOf(spans),
    async series(metric) {
      const found = (await collect()).find(({ descriptor }) => descriptor.name === metric);
      return (found?.dataPoints ?? []).map(({ attributes, value }) =>
        typeof value === "number"
          ? { attributes, count: 1, sum: value }
          : { attributes, count: "count" in value ? value.count : 0, sum: value.sum ?? 0 },
      );
    },
    async everything() {
      const recorded = spans.map(({ name, attributes, events, status, links }) => ({
        name,
        attributes,
        events,
        status,
        links,
      }));
      return JSON.stringify({ spans: recorded, metrics: await collect() });
    },
  };
}

/** Registers an SDK of its own for every test of a file. Call it once in a file. */
export function registeredTelemetry(options?: TelemetryOptions): () => Telemetry {
  let current: Telemetry | undefined;
  beforeEach(() => {
    current = telemetry(options);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    trace.setGlobalTracerProvider(current.tracerProvider);
    metrics.setGlobalMeterProvider(current.meterProvider);
  });
  afterEach(() => {
    for (const api of [trace, metrics, propagation, context]) api.disable();
  });
  return () => {
    if (current === undefined) throw new Error("no test is running");
    return current;
  };
}

function treesOf(spans: readonly ReadableSpan[], parent?: string): readonly Traced[] {
  const known = new Set(spans.map((span) => span.spanContext().spanId));
  const found = spans.filter(({ parentSpanContext }) => {
    const id = parentSpanContext?.spanId;
    return parent === undefined ? id === undefined || !known.has(id) : id === parent;
  });
  const began = ({ startTime: [seconds, nanoseconds] }: ReadableSpan): number => seconds * 1e3 + nanoseconds / 1e6;
  found.sort((one, other) => began(one) - began(other));
  return found.map((span) => ({
    name: span.name,
    kind: SpanKind[span.kind],
    status: SpanStatusCode[span.status.code],
    attributes: span.attributes,
    events: span.events.map(({ name, attributes = {} }) => [name, attributes] as const),
    children: treesOf(spans, span.spanContext().spanId),
  }));
}
