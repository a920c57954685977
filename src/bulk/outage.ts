import type { WaitRules } from "../client/call/call-hooks.ts";
import { backOff, mayPass } from "../client/call/decide-retry.ts";
import type { AutomationError } from "../client/index.ts";

/** The failures in a row of a run, and what follows from them. */
export interface Outage {
  /** Failures since an item got through. Above 0, the run goes on one item at a time. */
  readonly failures: number;
  /** The wait before the next item, in milliseconds. */
  readonly delayMs: number;
  /** There were too many: the run stops. */
  readonly isOver: boolean;
}

/** An item that was sent and has ended. */
export interface Sent {
  /** The failure, if it is not the item's; absent if the item got through. */
  readonly failure?: AutomationError | undefined;
  /** `failures` when the item was begun. */
  readonly failuresBefore: number;
}

/** The values that the next step is made from. */
export interface OutageRules {
  /** The client's. */
  readonly rules: WaitRules;
  /** In [0, 1). */
  readonly random: number;
  /** So many failures in a row stop the run; `Infinity`: never. */
  readonly stopAfter: number;
}

/** The state of a run in which nothing has failed since an item got through. */
export const NO_OUTAGE: Outage = { failures: 0, delayMs: 0, isOver: false };

/**
 * The outage rule of the public promise: the next state after an item has ended. Failures of items that were under way
 * together count as one. Only a failure that may pass is waited for.
 */
export function afterItem(before: Outage, { failure, failuresBefore }: Sent, rules: OutageRules): Outage {
  if (failure === undefined) return NO_OUTAGE;
  // Since the item was begun, another one that was under way with it has failed.
  if (failuresBefore !== before.failures) return before;
  const failures = before.failures + 1;
  const delayMs = mayPass(failure)
    ? Math.max(backOff({ ...rules, retries: before.failures }), askedFor(failure, rules))
    : 0;
  return { failures, delayMs, isOver: failures >= rules.stopAfter };
}

/** A 503 may ask for a longer wait. The pause of a rate limit is the limiter's, which each call waits for by itself. */
function askedFor({ kind, retryAfterMs = 0 }: AutomationError, { rules }: OutageRules): number {
  return kind === "server" ? Math.min(retryAfterMs, rules.maxRetryAfterMs) : 0;
}
