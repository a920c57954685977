import type { ErrorDetails, Outcome } from "../errors/automation-error.ts";
import type { Call } from "./call.ts";
import { Redactor } from "./redact.ts";

/** What is known of a call by now, as its errors tell it. */
export function detailsOf(call: Call): ErrorDetails & { outcome: Outcome } {
  const { operation } = call;
  const { response, requests, ambiguous } = call.progress;
  const requestId = response?.headers.get("x-request-id") ?? undefined;
  return {
    status: response === undefined || response.status === 0 ? undefined : response.status,
    method: operation.method,
    path: operation.path.template,
    attempts: requests,
    requestId: requestId === undefined ? undefined : redactorOf(call).text(requestId),
    outcome: outcomeOf(call),
    priorAmbiguous: ambiguous && call.isWrite ? true : undefined,
  };
}

/**
 * Whether the service did what was asked. An answer tells, except where the service failed on the way; without one it is
 * certain only for what was never sent.
 */
export function outcomeOf(call: Call): Outcome {
  const { response, sent, ambiguous, refusedBefore, fault } = call.progress;
  if (response !== undefined) return outcomeOfStatus(response.status);
  if (sent || ambiguous) return "unknown";
  return refusedBefore && fault !== "never_sent" ? "rejected" : "not_sent";
}

function outcomeOfStatus(status: number): Outcome {
  if (status >= 200 && status < 300) return "accepted";
  return status === 408 || status >= 500 ? "unknown" : "rejected";
}

/** How messages name the call. */
export function labelOf(call: Call): string {
  const { name, method, path } = call.operation;
  return name.includes(".") ? name : `${method} ${path.template}`;
}

/** What a write's failure leaves behind, said in its message; nothing for reads, and where nothing can have happened. */
export function consequenceOf(call: Call, outcome: Outcome): string {
  if (!call.isWrite || outcome === "rejected" || outcome === "not_sent") return "";
  if (outcome === "accepted") return "; the service accepted it: do not send it again (see rawBody)";
  if (call.operation.rotatesToken) {
    return "; the old token may be dead and its replacement lost: check before going on";
  }
  return "; it may have been applied: check before sending it again";
}

/** Takes everything secret that the call knows of out of what the service or the platform said. */
export function redactorOf(call: Call, more: readonly string[] = []): Redactor {
  return new Redactor([...call.progress.tokens, call.pipeline.credential.current, ...more]);
}
