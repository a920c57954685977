import { mayPass } from "../call/decide-retry.ts";
import type { AutomationError } from "../errors/automation-error.ts";

/** A wait without `totalTimeoutMs` ends when there has been no response at all for so long. */
const LONGEST_OUTAGE_MS = 10 * 60_000;

/** The outage that a wait is in, between two polls. Moments are on the monotonic clock, in milliseconds. */
export interface Outage {
  /** The latest response; after a refusal with a `Retry-After`, the end of that time. */
  readonly silentSince: number;
  /** The failure of the latest poll; `undefined` if that succeeded. */
  readonly missed: AutomationError | undefined;
}

/** A poll that failed. */
export interface FailedPoll {
  readonly failure: AutomationError;
  /** The moment at which it failed. */
  readonly at: number;
  /** `true` if the wait has a `totalTimeoutMs`, which ends it. */
  readonly isBounded: boolean;
}

/**
 * The rule of outages: a poll that failed for a reason that may pass is a missed poll, and the wait goes on. Without a
 * limit of its own it ends when ten minutes have brought no response. `undefined`: the wait ends with this failure.
 */
export function outageAfter({ silentSince, missed }: Outage, poll: FailedPoll): Outage | undefined {
  const { failure, at, isBounded } = poll;
  if (!mayPass(failure)) return undefined;
  const { retryAfterMs = 0 } = failure;
  const since = retryAfterMs > 0 || missed === undefined ? at + retryAfterMs : silentSince;
  const isTooLong = !isBounded && at - since >= LONGEST_OUTAGE_MS;
  return isTooLong ? undefined : { silentSince: since, missed: failure };
}

/** The time until the next poll: not before a 503 has asked for. The pause of a 429 is the rate limiter's. */
export function delayOfPoll({ silentSince, missed }: Outage, waitMs: number, at: number): number {
  return missed?.status === 503 ? Math.max(silentSince - at, waitMs) : waitMs;
}
