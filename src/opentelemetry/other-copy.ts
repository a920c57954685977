import * as api from "@opentelemetry/api";
import { unbreakable } from "../core/checks/validators.ts";

/** The providers that an SDK has registered, with the version of the API that it did so through. */
interface Registered {
  readonly version?: string;
  readonly trace?: unknown;
  readonly metrics?: unknown;
  readonly diag?: { readonly warn?: (message: string) => void };
}

/** Where each 1.x of the API keeps them. A copy does not see what a version that does not suit it has registered. */
const REGISTRY = Symbol.for("opentelemetry.js.api.1");

function registry(): Registered | undefined {
  return (globalThis as { readonly [REGISTRY]?: Registered })[REGISTRY]; // any name can be asked for
}

/** Says that an SDK is registered which this copy of the API does not see; `undefined` if it sees all there is. */
function flawOfRegistry(): string | undefined {
  const registered = registry();
  if (registered === undefined) return undefined;
  const { version, trace, metrics } = registered;
  const isSeen =
    (trace === undefined || api.trace.getTracerProvider() === trace) &&
    (metrics === undefined || api.metrics.getMeterProvider() === metrics);
  if (isSeen) return undefined;
  return `project-automation/opentelemetry records nothing: the SDK is registered with @opentelemetry/api ${version}, which the copy that this package loads does not see; look at npm ls @opentelemetry/api`;
}

/** Returns a check that says once, by `warn` and by OpenTelemetry's own diagnostics, that the SDK is not seen. */
export function warnsOfOtherCopy(warn: (message: string) => void): () => void {
  let isDone = false;
  return () => {
    const flaw = isDone ? undefined : flawOfRegistry();
    if (flaw === undefined) return;
    isDone = true;
    for (const say of [warn, (text: string) => registry()?.diag?.warn?.(text)]) unbreakable(say)(flaw);
  };
}
