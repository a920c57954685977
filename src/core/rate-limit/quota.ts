import { now } from "../time/clock.ts";
import type { Pause } from "./pause.ts";
import type { RateLimitHead, RateLimitSnapshot } from "./rate-limiter.ts";

/** The documented window of the rate limit. A reading older than this says nothing about the present window. */
const WINDOW_MS = 60_000;

/** The latest moment that a `Date` can be, in milliseconds since the epoch. A service may ask to wait for longer. */
const LATEST_DATE_MS = 8.64e15;

export interface Quota {
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
  /** When this number was read, on the monotonic clock. */
  readonly readAt: number;
  /** When anything was last learnt of the token, by the local clock. */
  readonly learntAt: number | undefined;
}

export const NOTHING_READ: Quota = { limit: undefined, remaining: undefined, readAt: 0, learntAt: undefined };

/** Requests left, as far as is known; `Infinity` without a recent reading. */
export function remainingOf({ remaining, readAt }: Quota): number {
  const age = now() - readAt;
  return remaining === undefined || age < 0 || age > WINDOW_MS ? Number.POSITIVE_INFINITY : remaining;
}

/**
 * The quota after a response to a request sent at `startedAt`. Responses overtake one another: a higher number is
 * accepted only from a request that was sent after the lower one was read.
 */
export function observed(known: Quota, head: RateLimitHead, startedAt: number): Quota {
  const { limit = known.limit, remaining } = head;
  const isNews = remaining !== undefined && (startedAt >= known.readAt || remaining < remainingOf(known));
  const learntAt = Date.now();
  return isNews ? { limit, remaining, readAt: now(), learntAt } : { ...known, limit, learntAt };
}

export function toSnapshot(
  { limit, remaining, learntAt }: Quota,
  left: Pause | undefined,
): RateLimitSnapshot | undefined {
  if (learntAt === undefined) return undefined;
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(remaining === undefined ? {} : { remaining }),
    observedAt: new Date(learntAt),
    ...(left && { pausedUntil: new Date(Math.min(Date.now() + left.lastsMs, LATEST_DATE_MS)) }),
  };
}
