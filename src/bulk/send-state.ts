import type { HookedEnd } from "../client/call/call-hooks.ts";
import { type Fate, fateOfError, isHarmless } from "../client/call/fate.ts";
import { ArgumentError, type AutomationError } from "../client/index.ts";
import type { BulkState } from "./journal.ts";
import { SendError } from "./send-error.ts";
import type { Thrown } from "./thrown.ts";

/** The end of a call of `send`. `"abandoned"`: it was aborted, did not end, and is not waited for. */
export type SendEnd = { readonly result: unknown } | { readonly thrown: Thrown } | "abandoned";

/** The one write of an item, as far as it has come. */
export interface Write {
  /** What its requests have done. */
  readonly fate: Fate;
  /** Its end; absent until it has ended. */
  readonly end?: Pick<HookedEnd, "error" | "output"> | undefined;
}

/** The state of an item after its `send`. */
export interface SendState {
  readonly state: BulkState;
  /** The error why the item is not `done`, or with `done`, why it has no result. */
  readonly error?: AutomationError;
  /**
   * `"through"`: the service accepted or refused the item. `"hold"`: the failure is not the item's, so others may fail as
   * well. `"stop"`: every other item will. `"fail"`: `send` cannot be worked with. Absent where the run ended the call.
   */
  readonly consequence?: "through" | "hold" | "stop" | "fail";
}

/** Refusals of an item. Other refusals are about the token, its rate or the address, and say nothing about the item. */
const ITEM_REFUSALS: ReadonlySet<string> = new Set(["api", "bad_request", "conflict"]);

/** Statuses that are about the address: a project that is misspelt, or a method that the path does not have. */
const ADDRESS_REFUSALS: ReadonlySet<number | undefined> = new Set([404, 405]);

/** Failures that every other item would meet as well. */
const COMMON_FAILURES: ReadonlySet<string> = new Set(["auth", "permission", "redirect", "token_provider"]);

/** Errors of the application: a mistake in its code, and no failure of a call. */
const MISTAKES: ReadonlySet<string> = new Set(["argument", "config"]);

const USE_ITS_CLIENT =
  "send must write with the client that it is called with, as in (client, item) => client.issues.create(…): ";

/**
 * Decides the state of an item by its one write, whatever `send` did with the promise. `write` is absent if none began.
 * Uncertain is `unknown`.
 *
 * | the write | `send` | state | consequence |
 * |---|---|---|---|
 * | none | resolved | `unknown`: another client may have written | fail |
 * | none | failed with the error of another client's write, which may have been applied | `unknown` | fail |
 * | none | failed with anything else | `not_sent` | hold, or stop |
 * | none, or one that has not left | did not end | `not_sent` | |
 * | has left, and did not end | | `unknown` | |
 * | got a 2xx response | failed with something of the application's own | `done` | fail |
 * | got a 2xx response | anything else | `done` | through, or stop |
 * | refused as an item | anything | `refused` | through |
 * | failed otherwise | anything | what the `outcome` of its error says | hold, or stop |
 */
export function stateAfterSend(key: string, send: SendEnd, write: Write | undefined): SendState {
  if (write === undefined) return stateWithoutWrite(send);
  const state = stateOfWrite(write);
  if (write.end === undefined) return { state };
  const { error } = write.end;
  if (state === "done") return stateOfDone(key, send, write.end);
  return {
    state,
    ...(error === undefined ? {} : { error }),
    consequence: state === "refused" ? "through" : consequenceOf(error),
  };
}

/** Returns whether every other item would fail in the same way. */
export function isCommonFailure(error: AutomationError): boolean {
  return COMMON_FAILURES.has(error.kind);
}

/** Returns whether a failure is about the address that was asked. */
export function isAboutAddress(error: AutomationError): boolean {
  return ADDRESS_REFUSALS.has(error.status);
}

function consequenceOf(error: AutomationError | undefined): "hold" | "stop" {
  return error !== undefined && isCommonFailure(error) ? "stop" : "hold";
}

/** The state of an item by its write alone, without an account of `send`. */
export function stateOfWrite({ fate, end }: Write): BulkState {
  const error = end?.error;
  if (end !== undefined && (error === undefined || error.outcome === "accepted")) return "done";
  if (!isHarmless(fate)) return "unknown";
  const isRefusal = error?.outcome === "rejected" && ITEM_REFUSALS.has(error.kind) && !isAboutAddress(error);
  return isRefusal ? "refused" : "not_sent";
}

function stateOfDone(key: string, send: SendEnd, { error, output }: NonNullable<Write["end"]>): SendState {
  if (error !== undefined) return { state: "done", error, consequence: "through" };
  if (send === "abandoned" || "result" in send) return { state: "done", consequence: "through" };
  const { error: own, said, details } = send.thrown;
  if (own !== undefined && !MISTAKES.has(own.kind)) {
    return { state: "done", error: own, consequence: isCommonFailure(own) ? "stop" : "through" };
  }
  const message = `send failed after its write had succeeded, so the item ${JSON.stringify(key)} is done${said}`;
  return { state: "done", error: new SendError(message, { key, result: output, ...details }), consequence: "fail" };
}

function stateWithoutWrite(send: SendEnd): SendState {
  if (send === "abandoned") return { state: "not_sent" };
  if ("result" in send) return mistake("it resolved without a write");
  const { thrown } = send;
  const { error, said, details } = thrown;
  if (error === undefined) {
    const failure = new ArgumentError(`send failed before its write${said}`, { outcome: "not_sent", ...details });
    return { state: "not_sent", error: failure, consequence: "hold" };
  }
  if (isOfOtherWrite(error)) return mistake("it failed with the error of another client's write", thrown);
  return { state: "not_sent", error, consequence: consequenceOf(error) };
}

/** Returns whether an error is that of a request which may have written. */
function isOfOtherWrite(error: AutomationError): boolean {
  const { method = "GET", attempts = 0 } = error;
  return method !== "GET" && method !== "HEAD" && attempts > 0 && !isHarmless(fateOfError(error));
}

function mistake(what: string, thrown?: Thrown): SendState {
  const message = `${USE_ITS_CLIENT}${what}${thrown?.said ?? ""}`;
  const error = new ArgumentError(message, { outcome: "unknown", ...thrown?.details });
  return { state: "unknown", error, consequence: "fail" };
}
