import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  isSpanContextValid,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { AnyAutomationError, CallObserver, CallStart, ClientEvent, Waits } from "../client/index.ts";
import { now } from "../core/time/clock.ts";
import { type AttemptEnd, AttemptSpan, type Target, type Telemetry, targetOf } from "./attempt-span.ts";
import { HTTP, OWN } from "./names.ts";

/** The SDK's own key: instrumentations of `fetch` and of sockets must not record the same request once more. */
const SUPPRESSED = createContextKey("OpenTelemetry SDK Context Key SUPPRESS_TRACING");

const STAGES = { waitMs: "backoff", queueMs: "queue", tokenMs: "token" } as const satisfies Record<keyof Waits, string>;

/** A shorter wait is only the program's own time, on a busy machine. */
const SHORTEST_WAIT_MS = 10;

/** The span of one call, from its beginning in the caller's context to its end, and those of its attempts below it. */
export class CallSpan implements CallObserver {
  readonly #telemetry: Telemetry;
  readonly #target: Target;
  readonly #series: Attributes;
  readonly #span: Span;
  readonly #context: Context;
  readonly #since: number = now();
  #attempt: AttemptSpan | undefined;
  #requests = 0;
  #waitedMs = 0;

  constructor(call: CallStart, telemetry: Telemetry) {
    const caller = context.active();
    const attributes = { [OWN.operation]: call.operation };
    this.#telemetry = telemetry;
    this.#target = targetOf(call);
    this.#series = { ...attributes, ...this.#target.server };
    this.#span = telemetry.tracer.startSpan(call.operation, { kind: SpanKind.INTERNAL, attributes }, caller);
    this.#context = trace.setSpan(caller, this.#span);
  }

  /** An SDK has made the span, also if it samples it out. */
  get isRecorded(): boolean {
    return isSpanContextValid(this.#span.spanContext());
  }

  event(event: ClientEvent): void {
    const span = this.#span;
    switch (event.type) {
      case "request":
        this.#waits(event);
        this.#attempt = new AttemptSpan(this.#telemetry, this.#target, {
          resends: this.#requests,
          parent: this.#context,
        });
        this.#requests += 1;
        break;
      case "response":
        this.#endAttempt({ ...event, error: event.lost });
        if (event.remaining !== undefined)
          this.#telemetry.instruments.remaining.record(event.remaining, this.#target.server);
        break;
      case "retry":
        this.#endAttempt({ status: event.status, error: event.reason });
        span.addEvent("retry", { [OWN.reason]: event.reason, [OWN.delayMs]: event.delayMs });
        break;
      case "rate_limit_pause":
        span.addEvent(event.type, { [OWN.delayMs]: event.delayMs });
        break;
      case "queue_wait":
        span.addEvent(event.type, { [OWN.waitedMs]: event.queueMs });
        break;
      case "page":
        span.setAttributes({ [OWN.pages]: event.pages, [OWN.items]: event.items });
        break;
      case "drift":
        // The paths of the issues may name keys of the response, so only their number is recorded.
        span.addEvent(event.type, { [OWN.issues]: event.issues.length });
        break;
      // A state is a word of the service, which traces do not hold.
      case "poll":
      case "end":
        break;
      default:
        span.addEvent(event.type);
    }
  }

  headers(): Readonly<Record<string, string>> {
    const carrier: Record<string, string> = {};
    const sent = this.#attempt?.context ?? this.#context;
    // Baggage often names users and tenants, which the service has no business with.
    if (this.#telemetry.propagate) propagation.inject(propagation.deleteBaggage(sent), carrier);
    return carrier;
  }

  around(send: () => void): void {
    context.with((this.#attempt?.context ?? this.#context).setValue(SUPPRESSED, true), send);
  }

  end(error: AnyAutomationError | undefined, waited: Waits | undefined): void {
    if (error !== undefined) this.#endAttempt({ status: error.status, error: error.kind });
    if (waited !== undefined) this.#waits(waited);
    const span = this.#span;
    span.setAttributes({
      [OWN.attempts]: this.#requests,
      [OWN.outcome]: error === undefined ? "accepted" : error.outcome,
      [OWN.waitedMs]: Math.round(this.#waitedMs),
    });
    const failure = error === undefined ? {} : { [HTTP.error]: error.kind };
    if (error !== undefined) span.setAttributes(failure).setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    this.#telemetry.instruments.call.record((now() - this.#since) / 1000, { ...this.#series, ...failure });
  }

  #endAttempt(end: AttemptEnd): void {
    const attempt = this.#attempt;
    this.#attempt = undefined;
    attempt?.end(end);
  }

  #waits(waits: Waits): void {
    for (const stage of ["waitMs", "queueMs", "tokenMs"] as const) {
      const waitedMs = waits[stage];
      if (waitedMs < SHORTEST_WAIT_MS) continue;
      this.#waitedMs += waitedMs;
      const attributes = { [OWN.stage]: STAGES[stage] };
      this.#span.addEvent("wait", { ...attributes, [OWN.waitedMs]: waitedMs });
      this.#telemetry.instruments.wait.record(waitedMs / 1000, { ...this.#series, ...attributes });
    }
  }
}
