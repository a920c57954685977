import { isRecord } from "../checks/values.ts";
import { type AutomationError, isBrandedError, type Outcome } from "../errors/automation-error.ts";
import { isSuccess } from "../wire/head.ts";
import { parseJson } from "../wire/json.ts";

/** The effect of a call's requests at the service, as far as the client can know. Every `outcome` comes from here. */
export interface CallOutcome {
  /** The effect of the latest request. */
  readonly latest: Outcome;
  /** An earlier request may have been applied. */
  readonly isAmbiguous: boolean;
}

export interface Answer {
  /** 0 for a redirect that a browser hides. */
  readonly status: number;
  /** The body says that the answer is the service's; `undefined` while that is not known. */
  readonly isFromService?: boolean | undefined;
}

export type OutcomeEvent = "sent" | "unsent" | "again" | Answer;

export const NOTHING_SENT: CallOutcome = { latest: "not_sent", isAmbiguous: false };

/**
 * The outcome of a call after the next event. A request that nothing is known of, once it was sent, is `unknown`.
 *
 * | event | latest | ambiguous |
 * |---|---|---|
 * | the request is sent | `unknown` | as before |
 * | it was not sent | `not_sent` | as before |
 * | it is answered 2xx, and that is the service's | `accepted` | as before |
 * | it is answered 401 or 429, or the service's own 4xx but 408 and 499 | `rejected` | as before |
 * | it is answered anything else | `unknown` | as before |
 * | the call is to be sent again, or its platform may have done so | as before | as before, or the request may have been applied |
 */
export function outcomeAfter({ latest, isAmbiguous }: CallOutcome, event: OutcomeEvent): CallOutcome {
  if (event === "sent") return { latest: "unknown", isAmbiguous };
  if (event === "unsent") return { latest: "not_sent", isAmbiguous };
  if (event === "again") return { latest, isAmbiguous: isAmbiguous || mayBeApplied(latest) };
  return { latest: outcomeOfAnswer(event), isAmbiguous };
}

/** The effect of all requests of a call, if no other one follows. */
export function outcomeOf({ latest, isAmbiguous }: CallOutcome): Outcome {
  return isAmbiguous ? "unknown" : latest;
}

export function isHarmless({ latest, isAmbiguous }: CallOutcome): boolean {
  return !isAmbiguous && !mayBeApplied(latest);
}

/** The outcome of the write that ended with this error. Of anything but an error of this library, nothing is known. */
export function outcomeOfError(error: unknown): CallOutcome {
  const { outcome = "unknown", priorAmbiguous }: Partial<AutomationError> = isBrandedError(error) ? error : {};
  return { latest: outcome, isAmbiguous: priorAmbiguous === true };
}

export function outcomeOfAnswer({ status, isFromService }: Answer): Outcome {
  if (isSuccess(status)) return isFromService ? "accepted" : "unknown";
  // A gateway that asks for a token or for a wait has passed nothing on.
  if (status === 401 || status === 429) return "rejected";
  // 499 is the word of a proxy: its client has gone away, perhaps after the request was passed on.
  const isRefusal = status >= 400 && status < 500 && status !== 408 && status !== 499;
  return isRefusal && isFromService ? "rejected" : "unknown";
}

function mayBeApplied(outcome: Outcome): boolean {
  return outcome === "unknown" || outcome === "accepted";
}

// A status is the word of the sender of the response. Proxies, gateways and maintenance pages answer in the place of a service, with
// any status, so its body tells whether the service did.

interface ReceivedBody {
  readonly text: string;
  readonly isWhole: boolean;
}

/**
 * Returns whether a 2xx is the service's, by its body; `undefined` while that is not known. White space and a byte order
 * mark count for nothing.
 *
 * | the body | where one is due | where none is due |
 * |---|---|---|
 * | begins with `{` or `[` | the service's | the service's |
 * | is one JSON value, such as `null` | the service's | the service's |
 * | has not begun | not known | the service's |
 * | is empty | not the service's | the service's |
 * | anything else | not the service's | not the service's |
 */
export function isSuccessOfService({ text, isWhole }: ReceivedBody, isDue: boolean): boolean | undefined {
  if (beginsAsJson(text)) return true;
  const shown = text.trim();
  if (shown !== "") return isWhole && parseJson(shown) !== undefined;
  if (!isDue) return true;
  return isWhole ? false : undefined;
}

export function beginsAsJson(text: string): boolean {
  return /^\s*[{[]/.test(text);
}

/** Returns whether a refusal is the service's, by its parsed body: it has an `error`. */
export function isRefusalOfService(body: unknown): boolean {
  return isRecord(body) && (body["error"] ?? undefined) !== undefined;
}
