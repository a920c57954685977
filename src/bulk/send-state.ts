import type { AutomationError } from "../client/errors/automation-error.ts";
import { ArgumentError } from "../client/errors/classes.ts";
import type { BulkState } from "./journal.ts";
import { readThrown, type Thrown } from "./thrown.ts";

/** How a call of `send` ended. `"abandoned"`: it was aborted, did not end, and is not waited for. */
export type SendEnd<Result> = { readonly result: Result } | { readonly thrown: unknown } | "abandoned";

/** What was seen of the one call of the client that `send` passed its options to: the announced call. */
export interface AnnouncedCall {
  /** Its id; `undefined` if `onRequest` was not called. */
  readonly callId: string | undefined;
  /** Its record is durable, so `onRequest` let it leave. */
  readonly hasLeft: boolean;
  /** Something waits for its record, as the client does. */
  readonly isWaitedFor: boolean;
  /** The status of its final response, if there was one. */
  readonly status: number | undefined;
  /** A second call of the client was announced, and refused. */
  readonly hasSecond: boolean;
}

/** How a call of `send` ended. */
export interface SendState {
  readonly state: BulkState;
  /** Why the item is not `done`, or with `done`, why it has no result. */
  readonly error?: AutomationError;
  /**
   * `"stop"`: every other item would fail as well. `"address"`: so will those with the same address. `"fail"`: `send`
   * cannot be worked with.
   */
  readonly consequence?: "stop" | "address" | "fail";
}

/** Refusals of an item. Other refusals are about the token, its rate or the address, and say nothing about the item. */
const ITEM_REFUSALS: ReadonlySet<string> = new Set(["api", "bad_request", "conflict"]);

/** Statuses that are about the address: a project that is misspelt, or a method that the path does not have. */
const ADDRESS_REFUSALS: ReadonlySet<number | undefined> = new Set([404, 405]);

/** Failures that every other item would meet as well. */
const COMMON_FAILURES: ReadonlySet<string> = new Set(["auth", "permission", "redirect", "token_provider"]);

/** Requests with these methods write nothing. */
const READS: ReadonlySet<string | undefined> = new Set(["GET", "HEAD"]);

const PASS_OPTIONS_ON =
  "send must pass its options on to the client's method, such as client.issues.create(project, input, options): ";

/**
 * Decides in which state an item is after its `send`, by the announced call alone. What is not certain is `unknown`.
 *
 * | `send` | the announced call | state |
 * |---|---|---|
 * | rejected with an error of the library, or resolved, or did not end | got a 2xx response | `done` |
 * | rejected with the error of the announced call | got none | what the `outcome` of the error says |
 * | rejected with another error of the library | has left | `unknown` |
 * | | has not left, or there is none and the error is of a read, or of no request | `not_sent` |
 * | did not end | waits for its record, and has not left | `not_sent` |
 * | rejected or resolved | did not wait for its record | `unknown`, and `send` cannot be worked with |
 * | anything else | | `unknown`, and unless it did not end, `send` cannot be worked with |
 */
export function stateAfterSend(end: SendEnd<unknown>, call: AnnouncedCall): SendState {
  if (end === "abandoned") return { state: isAccepted(call) ? "done" : isUnsent(call) ? "not_sent" : "unknown" };
  const thrown = "thrown" in end ? readThrown(end.thrown) : undefined;
  if (call.hasSecond) {
    return misuse(
      "send made a second call with its options; one item is one write, so the second was not sent",
      thrown,
    );
  }
  if (hasLeftEarly(call)) {
    return misuse("send must wait for its onRequest: a request left before its record was durable", thrown);
  }
  if (thrown === undefined) return stateOfResolved(call);
  const { error } = thrown;
  if (error === undefined || (error.outcome === undefined && error.callId === undefined)) {
    return misuse("send failed with something that does not tell whether the item was written", thrown);
  }
  if (call.callId === undefined && mayHaveWritten(error)) {
    return misuse(`${PASS_OPTIONS_ON}it failed after a request without a record`, thrown);
  }
  const state = stateOfRejected(error, call);
  if (isCommonFailure(error)) return { state, error, consequence: "stop" };
  const isAboutAddress = isOfCall(error, call) && state === "not_sent" && ADDRESS_REFUSALS.has(error.status);
  return isAboutAddress ? { state, error, consequence: "address" } : { state, error };
}

/** Whether every other item would fail in the same way. */
export function isCommonFailure(error: AutomationError): boolean {
  return COMMON_FAILURES.has(error.kind);
}

function stateOfResolved(call: AnnouncedCall): SendState {
  if (isAccepted(call)) return { state: "done" };
  if (call.callId === undefined) return misuse(`${PASS_OPTIONS_ON}it resolved without a recorded request`);
  if (isUnsent(call)) return misuse("send must wait for its call: it resolved before the request was sent");
  if (call.status === undefined) {
    return misuse(
      "send must wait for its call, pass onResponse on, and not hide errors: it resolved without a response",
    );
  }
  return misuse(`send must not hide the errors of its call: it resolved although the response was ${call.status}`);
}

function stateOfRejected(error: AutomationError, call: AnnouncedCall): BulkState {
  if (isAccepted(call)) return "done";
  if (!isOfCall(error, call)) return call.hasLeft ? "unknown" : "not_sent";
  if (error.outcome === "accepted") return "done";
  if (error.outcome !== "rejected" && error.outcome !== "not_sent") return "unknown";
  if (error.priorAmbiguous === true) return "unknown";
  const isOfItem = ITEM_REFUSALS.has(error.kind) && !ADDRESS_REFUSALS.has(error.status);
  return error.outcome === "rejected" && isOfItem ? "refused" : "not_sent";
}

function isAccepted({ status = 0 }: AnnouncedCall): boolean {
  return status >= 200 && status < 300;
}

/** It was announced by `onRequest`, and left before `onRequest` had ended. */
function hasLeftEarly({ callId, hasLeft, isWaitedFor, status }: AnnouncedCall): boolean {
  return callId !== undefined && (!isWaitedFor || (status !== undefined && !hasLeft));
}

/** It was announced, and cannot leave any more, since `send` is over. */
function isUnsent({ callId, hasLeft, isWaitedFor }: AnnouncedCall): boolean {
  return callId !== undefined && isWaitedFor && !hasLeft;
}

function isOfCall(error: AutomationError, { callId }: AnnouncedCall): boolean {
  return callId !== undefined && error.callId === callId;
}

/** Whether an error of a call that was not announced is one of a request that may have been a write. */
function mayHaveWritten({ method, outcome, attempts = 0 }: AutomationError): boolean {
  return !READS.has(method) && (outcome !== "not_sent" || attempts > 0);
}

function misuse(message: string, thrown?: Thrown): SendState {
  const error = new ArgumentError(`${message}${thrown?.said ?? ""}`, { outcome: "unknown", ...thrown?.details });
  return { state: "unknown", error, consequence: "fail" };
}
