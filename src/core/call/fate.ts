import { type AutomationError, isBrandedError, type Outcome } from "../errors/automation-error.ts";
import { isSuccess } from "../wire/head.ts";

/** The effect of a call's requests at the service, as far as the client can know. Every `outcome` comes from here. */
export interface Fate {
  /** The effect of the latest request. */
  readonly outcome: Outcome;
  /** An earlier request may have been applied. */
  readonly isAmbiguous: boolean;
}

/** A response, as far as it has come. */
export interface Answer {
  /** 0 for a redirect that a browser hides. */
  readonly status: number;
  /** The body of a 2xx says that it is the service's; `undefined` while that is not known. */
  readonly isFromService?: boolean | undefined;
}

/** The next thing that happens to the request of a call, or to the call. */
export type Step = "leaves" | "never_left" | "again" | Answer;

/** The fate of a call whose first request has not left. */
export const NOTHING_SENT: Fate = { outcome: "not_sent", isAmbiguous: false };

/**
 * The fate of a call after its next step. A request that nothing is known of, once it has left, is `unknown`.
 *
 * | step | outcome | ambiguous |
 * |---|---|---|
 * | the request leaves | `unknown` | as before |
 * | it never left | `not_sent` | as before |
 * | it is answered 2xx, and that is the service's | `accepted` | as before |
 * | it is answered 4xx but 408 and 499, 307 or 308 | `rejected` | as before |
 * | it is answered anything else | `unknown` | as before |
 * | the call is to be sent again, or its platform may have done so | as before | as before, or the request may have been applied |
 */
export function fateAfter({ outcome, isAmbiguous }: Fate, step: Step): Fate {
  if (step === "leaves") return { outcome: "unknown", isAmbiguous };
  if (step === "never_left") return { outcome: "not_sent", isAmbiguous };
  if (step === "again") return { outcome, isAmbiguous: isAmbiguous || mayBeApplied(outcome) };
  return { outcome: outcomeOfAnswer(step), isAmbiguous };
}

/** The effect of all requests of a call, if no other one follows. */
export function outcomeOf({ outcome, isAmbiguous }: Fate): Outcome {
  return isAmbiguous ? "unknown" : outcome;
}

/** `true` if nothing of the call was applied. */
export function isHarmless({ outcome, isAmbiguous }: Fate): boolean {
  return !isAmbiguous && !mayBeApplied(outcome);
}

/** The fate of the write that ended with this error. Of anything but an error of this library, nothing is known. */
export function fateOfError(error: unknown): Fate {
  const { outcome = "unknown", priorAmbiguous }: Partial<AutomationError> = isBrandedError(error) ? error : {};
  return { outcome, isAmbiguous: priorAmbiguous === true };
}

/** The effect of a request, by its response. */
export function outcomeOfAnswer({ status, isFromService }: Answer): Outcome {
  if (isSuccess(status)) return isFromService ? "accepted" : "unknown";
  // 303 is the answer to a request that was performed, and gateways use the others so; 307 and 308 say to repeat it.
  const isRedirect = status < 400 && status !== 307 && status !== 308;
  // 499 is the word of a proxy: its client has gone away, perhaps after the request was passed on.
  return isRedirect || status === 408 || status === 499 || status >= 500 ? "unknown" : "rejected";
}

function mayBeApplied(outcome: Outcome): boolean {
  return outcome === "unknown" || outcome === "accepted";
}
