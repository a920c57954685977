import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { CallStart } from "../client/index.ts";
import { now } from "../core/time/clock.ts";
import type { Instruments } from "./instruments.ts";
import { HTTP, OWN } from "./names.ts";

export interface Telemetry {
  readonly tracer: Tracer;
  readonly instruments: Instruments;
  /** Each request carries its context to the service. */
  readonly propagate: boolean;
}

export interface Target {
  readonly name: string;
  readonly server: Attributes;
  readonly attributes: Attributes;
}

export function targetOf({ method, path, baseUrl }: CallStart): Target {
  const { protocol, hostname, port } = new URL(baseUrl);
  const scheme = protocol.slice(0, -1);
  const server = {
    [HTTP.address]: hostname.replace(/^\[|\]$/g, ""),
    [HTTP.port]: Number(port) || (scheme === "https" ? 443 : 80),
  };
  const attributes = { ...server, [HTTP.method]: method, [HTTP.scheme]: scheme, [HTTP.template]: path };
  return { name: `${method} ${path}`, server, attributes };
}

export interface AttemptEnd {
  readonly status?: number | undefined;
  /** The kind of the failure, if there was no whole response. */
  readonly error?: string | undefined;
  readonly remaining?: number | undefined;
}

/** The span and the measurement of one request, by the HTTP client conventions. */
export class AttemptSpan {
  readonly context: Context;
  readonly #span: Span;
  readonly #attributes: Attributes;
  readonly #instruments: Instruments;
  readonly #since: number = now();

  constructor({ tracer, instruments }: Telemetry, target: Target, { resends, parent }: Resend) {
    const attributes = resends === 0 ? target.attributes : { ...target.attributes, [HTTP.resends]: resends };
    this.#span = tracer.startSpan(target.name, { kind: SpanKind.CLIENT, attributes }, parent);
    this.context = trace.setSpan(parent, this.#span);
    this.#attributes = target.attributes;
    this.#instruments = instruments;
  }

  end({ status, error, remaining }: AttemptEnd): void {
    const span = this.#span;
    // A redirect that a browser hides has the status 0.
    const outcome: Attributes = status ? { [HTTP.status]: status } : {};
    const failure = error ?? (status !== undefined && status >= 400 ? String(status) : undefined);
    if (failure !== undefined) {
      outcome[HTTP.error] = failure;
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.setAttributes(outcome);
    if (remaining !== undefined) span.setAttribute(OWN.remaining, remaining);
    span.end();
    this.#instruments.request.record((now() - this.#since) / 1000, { ...this.#attributes, ...outcome });
  }
}

interface Resend {
  readonly resends: number;
  readonly parent: Context;
}
