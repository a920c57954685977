import { mayPass } from "../core/call/decide-retry.ts";
import type { AutomationError } from "../core/errors/automation-error.ts";

/** A wait without `totalTimeoutMs` ends when it has waited so long without any response. */
const LONGEST_OUTAGE_MS = 10 * 60_000;

/** The outage that a wait is in, between two polls. */
export interface Outage {
  /** The failure of the latest poll; `undefined` if that succeeded. */
  readonly missed: AutomationError | undefined;
  /** The time since the first of these failures, or since the latest response: without waits that the service asked for. */
  readonly silentMs: number;
}

export const NO_OUTAGE: Outage = { missed: undefined, silentMs: 0 };

interface FailedPoll {
  readonly failure: AutomationError;
  /** The time since the poll before, in milliseconds: the wait as it was meant, and the poll as it went. */
  readonly tookMs: number;
  /** `true` if a request of it had a response. */
  readonly isAnswered: boolean;
  /** `true` if the wait has a `totalTimeoutMs`, which ends it. */
  readonly isBounded: boolean;
}

/**
 * The rule of outages: a poll that failed for a reason that may pass is a missed poll, and the wait goes on. Without a
 * limit of its own it ends when ten minutes have brought no response. `undefined`: the wait ends with this failure.
 */
export function outageAfter({ missed, silentMs: before }: Outage, poll: FailedPoll): Outage | undefined {
  const { failure, tookMs, isAnswered, isBounded } = poll;
  if (!mayPass(failure)) return undefined;
  const begins = missed === undefined || isAnswered || askedFor(failure) > 0;
  const silentMs = begins ? 0 : before + Math.max(0, tookMs - askedFor(missed));
  return !isBounded && silentMs >= LONGEST_OUTAGE_MS ? undefined : { missed: failure, silentMs };
}

/** The time until the next poll: not before the service has asked for. The pause of a 429 is the rate limiter's. */
export function delayOfPoll({ missed }: Outage, waitMs: number): number {
  return missed === undefined || missed.status === 429 ? waitMs : Math.max(askedFor(missed), waitMs);
}

function askedFor({ retryAfterMs = 0 }: AutomationError): number {
  return retryAfterMs;
}
