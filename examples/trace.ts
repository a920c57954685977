/**
 * What a trace of the client looks like: a small job against the emulator, which asks for a pause of a second on the way,
 * and its spans as a tree. Run it, where `@opentelemetry/api`, `context-async-hooks` and `sdk-trace` are installed: node examples/trace.ts
 */
import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { Client } from "project-automation";
import { instrument } from "project-automation/opentelemetry";
import { createEmulator } from "project-automation/testing";

// A real application lets its SDK send spans to a collector, and keeps none.
const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(provider);

const emulator = createEmulator({ projects: [{ name: "web" }] });
emulator.fault({ operation: "sessions.get", status: 429, headers: { "retry-after": "1" } });
const { baseUrl, token, fetch } = emulator;
const client = new Client(instrument({ baseUrl, token, fetch }));

await trace.getTracer("nightly").startActiveSpan("nightly job", async (span) => {
  for await (const project of client.projects.list()) {
    await client.issues.create(project, { title: "Login page is blank", type: "bug" });
    const [latest] = await client.sessions.list(project).toArray({ max: 1 });
    if (latest !== undefined) await client.sessions.get(latest.id);
  }
  span.end();
});
await provider.forceFlush();

const spans = exporter.getFinishedSpans();
for (const root of spans.filter(({ parentSpanContext }) => parentSpanContext === undefined)) print(root, "", "");

function print(span: ReadableSpan, first: string, rest: string): void {
  console.log(`${first}${describe(span)}`);
  const children = spans.filter(({ parentSpanContext }) => parentSpanContext?.spanId === span.spanContext().spanId);
  children.sort((one, other) => since(one.startTime, other.startTime));
  const bar = children.length > 0 ? "│" : " ";
  for (const { name, time } of span.events) {
    console.log(`${rest}${bar}    · ${name}, after ${Math.round(since(time, span.startTime))} ms`);
  }
  for (const child of children) {
    const isLast = child === children.at(-1);
    print(child, `${rest}${isLast ? "└─ " : "├─ "}`, `${rest}${isLast ? "   " : "│  "}`);
  }
}

function describe({ name, status, attributes, startTime, endTime }: ReadableSpan): string {
  const code = attributes["http.response.status_code"];
  const resends = attributes["http.request.resend_count"];
  return [
    name,
    ...(typeof code === "number" ? [`→ ${code}`] : []),
    ...(typeof resends === "number" ? [`(resend ${resends})`] : []),
    ...(status.code === SpanStatusCode.ERROR ? ["ERROR"] : []),
    `${Math.round(since(endTime, startTime))} ms`,
  ].join("  ");
}

/** Milliseconds from one of the SDK's times to another. */
function since(time: ReadableSpan["startTime"], other: ReadableSpan["startTime"]): number {
  return (time[0] - other[0]) * 1_000 + (time[1] - other[1]) / 1e6;
}
