import { isRecord } from "../core/checks/values.ts";
import type { OpenWindow } from "../emulator/rate-limit.ts";
import type { RecordedRequest } from "../emulator/request-log.ts";
import type { Fate } from "./events.ts";

type Ended = Pick<RecordedRequest, "applied" | "outcome" | "status" | "operation">;

export function fateOf({ applied, outcome, status = 0, operation }: Ended): Fate {
  if (outcome === "pending") return "pending";
  if (!applied) return "not_carried_out";
  // An operation that was carried out succeeds: the error is of a fault. A route may respond with any status.
  const isReplaced = status >= 400 && operation !== undefined;
  return outcome === "completed" && !isReplaced ? "answered" : "lost";
}

interface Reason {
  readonly content: unknown;
  readonly scopes: readonly string[] | undefined;
  readonly window: OpenWindow | undefined;
}

/** Why a request was refused, or how its response was lost, in one sentence; `undefined` for any other. */
export function whyOf(request: Ended & Pick<RecordedRequest, "at" | "faulty">, reason: Reason): string | undefined {
  const { applied, outcome, status = 0 } = request;
  const order = applied ? "after the operation was carried out" : "before the operation was carried out";
  if (outcome === "pending") return undefined;
  if (outcome === "aborted")
    return `the client closed the connection ${applied ? "before it had the response" : "first"}`;
  if (outcome === "dropped") return `a scripted fault broke the connection ${order}`;
  if (outcome === "cut") return "a scripted fault cut the response off";
  if (status < 400) return undefined;
  return [messageOf(reason.content), ...(applied || status >= 500 ? [] : detailsOf(request, reason))].join("; ");
}

function messageOf(content: unknown): string {
  const message = isRecord(content) ? content["message"] : undefined;
  return typeof message === "string" ? message : "the body of the response gives no reason";
}

function detailsOf({ status, at }: Pick<RecordedRequest, "status" | "at">, { scopes, window }: Reason): string[] {
  if (status === 403 && scopes !== undefined) {
    return [scopes.length === 0 ? "this token has no scope" : `this token has ${scopes.join(", ")}`];
  }
  if (status !== 429 || window === undefined || window.remaining > 0) return [];
  return [`all ${window.limit} are used, and the window ends in ${((window.endsAt - at) / 1000).toFixed(1)} s`];
}
