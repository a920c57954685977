import { type AnyAutomationError, ArgumentError, type AutomationError } from "../client/index.ts";
import { type CallOutcome, isHarmless, isRefusalOfService, outcomeOfError } from "../core/call/outcome.ts";
import { SendError } from "../core/errors/send-error.ts";
import type { CallEnd } from "../core/instrumentation.ts";
import { isWrite } from "../core/wire/method.ts";
import type { BulkState } from "./journal.ts";
import type { Thrown } from "./thrown.ts";

/** The end of a call of `send`. `"abandoned"`: it was aborted, did not end, and is not waited for. */
export type SendEnd =
  | { readonly result: unknown }
  /** `isOwn`: the error of a call of the item's client. */
  | { readonly thrown: Thrown; readonly isOwn: boolean }
  | "abandoned";

export interface Write {
  readonly outcome: CallOutcome;
  readonly end?: CallEnd | undefined;
}

export interface SendState {
  readonly state: BulkState;
  /** The error why the item is not `done`, or with `done`, why it has no result. */
  readonly error?: AutomationError;
  /**
   * `"through"`: the item is done, or the service refused it. `"hold"`: the failure is not the item's, so others may fail as
   * well. `"stop"`: every other item will. `"fail"`: `send` cannot be worked with. Absent where the run ended the call, and
   * where another client was refused for this item.
   */
  readonly consequence?: "through" | "hold" | "stop" | "fail";
}

/** Statuses of a refused item. Others are about the token, its rate, the address or the way there. */
const ITEM_REFUSALS: ReadonlySet<number | undefined> = new Set([400, 409, 413, 415, 422]);

/**
 * Whom an error is about. `"every_item"`: each would meet it as well. `"every_item_if_refused"`: so it is if the refusal is the
 * service's. `"mistake"`: the application's code, and no failure of a call.
 */
type About = "call" | "every_item" | "every_item_if_refused" | "mistake";

const ABOUT: Readonly<Record<string, About>> = {
  api: "call",
  bad_request: "call",
  auth: "every_item_if_refused",
  permission: "every_item_if_refused",
  not_found: "call",
  conflict: "call",
  rate_limit: "call",
  server: "call",
  redirect: "every_item",
  connection: "call",
  timeout: "call",
  abort: "call",
  parse: "call",
  validation: "call",
  pagination: "call",
  token_provider: "every_item",
  argument: "mistake",
  config: "mistake",
  journal: "call",
  bulk: "call",
  send: "mistake",
} satisfies Record<AnyAutomationError["kind"], About>;

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
 * | none | failed with the refusal (4xx but 429) of another client | `not_sent` | |
 * | none | failed with anything else | `not_sent` | hold; stop, if every item of its client will |
 * | none, or one that has not left | did not end | `not_sent` | |
 * | has left, and did not end | | `unknown` | |
 * | succeeded | failed with something of the application's own | `done` | fail |
 * | succeeded | anything else | `done` | through; stop, if every item of its client will |
 * | was refused as an item, by the service | anything | `refused` | through |
 * | failed otherwise, and was not applied | anything | `not_sent` | hold, or stop |
 * | failed otherwise | anything | `unknown`, also after a 2xx that cannot be used | hold, or stop |
 */
export function stateAfterSend(key: string, send: SendEnd, write: Write | undefined): SendState {
  if (write === undefined) return stateWithoutWrite(send);
  const state = stateOfWrite(write);
  if (write.end === undefined) return { state };
  const { error } = write.end;
  if (state === "done") return stateOfDone(key, send, write.end.output);
  return {
    state,
    ...(error === undefined ? {} : { error }),
    consequence: state === "refused" ? "through" : consequenceOf(error),
  };
}

export function isCommonFailure(error: AutomationError): boolean {
  const about = ABOUT[error.kind];
  return about === "every_item" || (about === "every_item_if_refused" && isRefusalOfService(error.body));
}

function consequenceOf(error: AutomationError | undefined): "hold" | "stop" {
  return error !== undefined && isCommonFailure(error) ? "stop" : "hold";
}

export function stateOfWrite({ outcome, end }: Write): BulkState {
  if (end !== undefined && end.error === undefined) return "done";
  if (!isHarmless(outcome)) return "unknown";
  return ITEM_REFUSALS.has(end?.error?.status) ? "refused" : "not_sent";
}

function stateOfDone(key: string, send: SendEnd, output: unknown): SendState {
  if (send === "abandoned" || "result" in send) return { state: "done", consequence: "through" };
  const { error, said, details } = send.thrown;
  if (error !== undefined && ABOUT[error.kind] !== "mistake") {
    return { state: "done", error, consequence: send.isOwn && isCommonFailure(error) ? "stop" : "through" };
  }
  const message = `send failed after its write had succeeded, so the item ${JSON.stringify(key)} is done${said}`;
  return { state: "done", error: new SendError(message, { key, result: output, ...details }), consequence: "fail" };
}

function stateWithoutWrite(send: SendEnd): SendState {
  if (send === "abandoned") return { state: "not_sent" };
  if ("result" in send) return mistake("it resolved without a write");
  const { isOwn, thrown } = send;
  const { error, said, details } = thrown;
  if (error === undefined) {
    const failure = new ArgumentError(`send failed before its write${said}`, { outcome: "not_sent", ...details });
    return { state: "not_sent", error: failure, consequence: "hold" };
  }
  if (isOfOtherWrite(error)) return mistake("it failed with the error of another client's write", thrown);
  if (isOwn) return { state: "not_sent", error, consequence: consequenceOf(error) };
  return isRefusal(error) ? { state: "not_sent", error } : { state: "not_sent", error, consequence: "hold" };
}

/** Another service or account has refused something for this item. Its rate limit may end. */
function isRefusal({ status = 0 }: AutomationError): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

function isOfOtherWrite(error: AutomationError): boolean {
  const { method = "GET", attempts = 0 } = error;
  return isWrite(method) && attempts > 0 && !isHarmless(outcomeOfError(error));
}

function mistake(what: string, thrown?: Thrown): SendState {
  const message = `${USE_ITS_CLIENT}${what}${thrown?.said ?? ""}`;
  const error = new ArgumentError(message, { outcome: "unknown", ...thrown?.details });
  return { state: "unknown", error, consequence: "fail" };
}
