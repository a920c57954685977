import * as api from "@opentelemetry/api";
import { type ClientOptions, ConfigError, VERSION } from "../client/index.ts";
import { BOOLEAN, parseOptions, parseValue, type Shape, typed, withMethods } from "../core/checks/validators.ts";
import { isPlainObject } from "../core/checks/values.ts";
import { asErrorClass } from "../core/errors/as-error-class.ts";
import { withCallerStack } from "../core/errors/caller-stack.ts";
import { combine, type Instrumentation } from "../core/instrumentation.ts";
import { CallSpan } from "./call-span.ts";
import { instrumentsOf } from "./instruments.ts";

// The earliest versions have no meters, whatever the types say: an import of one by its name would fail with the
// platform's message, which does not say what to do.
if (api.createNoopMeter === undefined || !("createGauge" in api.createNoopMeter())) {
  throw new Error(
    "project-automation/opentelemetry needs @opentelemetry/api 1.9 or later: the one that is installed is older, without gauges",
  );
}

/** Destinations of traces and metrics, and the headers that are added to each request. */
export interface TelemetrySettings {
  /**
   * Makes the spans.
   *
   * @default the global one: it is looked up at each call
   */
  tracerProvider?: api.TracerProvider | undefined;
  /**
   * Takes the measurements.
   *
   * @default the global one: it is looked up at each call
   */
  meterProvider?: api.MeterProvider | undefined;
  /**
   * Sends the context of each request along with it, as the registered propagator writes it (`traceparent`), without the
   * application's baggage.
   *
   * @default `true`, in a browser `false`: it sends such headers only where the service's CORS rules allow them
   */
  propagate?: boolean | undefined;
}

const SETTINGS = {
  tracerProvider: withMethods<api.TracerProvider>("a TracerProvider", "getTracer"),
  meterProvider: withMethods<api.MeterProvider>("a MeterProvider", "getMeter"),
  propagate: BOOLEAN,
} satisfies Shape<TelemetrySettings>;

/** An SDK that was registered with another copy of the API makes no spans here. */
const UNRECORDED =
  "project-automation/opentelemetry records no spans: no SDK is registered with the copy of @opentelemetry/api that this package loads; look at npm ls @opentelemetry/api";

/** The other options are the client's to check. A client in their place would trace nothing. */
const OPTIONS = typed("an object such as { baseUrl }", (value): value is ClientOptions => isPlainObject(value));
const INSTRUMENTATION = withMethods<Instrumentation>("an instrumentation", "begin");

/**
 * Returns options of a client that traces and measures its calls with OpenTelemetry: the given ones with an
 * `instrumentation`. If they have an `instrumentation` already, both are called. Without a registered SDK nothing is
 * recorded: the first call says so in a `warn` line, once.
 *
 * @throws `ConfigError` if a setting is invalid
 *
 * @example
 * const client = new Client(instrument({ baseUrl: "https://automation.example.com/api/v1", token }));
 */
export function instrument(options: ClientOptions, settings?: TelemetrySettings): ClientOptions {
  const read = () => {
    const { instrumentation } = parseValue(options, "options", OPTIONS);
    if (instrumentation !== undefined) parseValue(instrumentation, "options.instrumentation", INSTRUMENTATION);
    return { instrumentation, ...parseOptions(settings, "settings", SETTINGS) };
  };
  const checked = withCallerStack(instrument, () => asErrorClass(ConfigError, read));
  const { instrumentation, tracerProvider, meterProvider, propagate = !isBrowser() } = checked;
  const tracer = madeOf(
    () => tracerProvider ?? api.trace.getTracerProvider(),
    (provider) => provider.getTracer("project-automation", VERSION),
  );
  const instruments = madeOf(() => meterProvider ?? api.metrics.getMeterProvider(), instrumentsOf);
  let isTold = false;
  const own: Instrumentation = {
    begin: (call) => {
      const span = new CallSpan(call, { tracer: tracer(), instruments: instruments(), propagate });
      if (tracerProvider === undefined && !span.isRecorded && !isTold) {
        isTold = true;
        options.logger?.warn(UNRECORDED, {});
      }
      return span;
    },
  };
  return { ...options, instrumentation: combine([instrumentation, own]) };
}

/** Calls `make` once for a provider, and again for another provider: an SDK may be registered later. */
function madeOf<Provider, Made>(find: () => Provider, make: (provider: Provider) => Made): () => Made {
  let last: { readonly provider: Provider; readonly made: Made } | undefined;
  return () => {
    const provider = find();
    if (last?.provider !== provider) last = { provider, made: make(provider) };
    return last.made;
  };
}

// Pages and their workers have a location, and CORS; servers have neither.
function isBrowser(): boolean {
  return (globalThis as { location?: unknown }).location !== undefined; // not every runtime has one
}
