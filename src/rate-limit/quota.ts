import type { Pause } from "./pause.ts";
import type { RateLimitHead, RateLimitSnapshot } from "./rate-limiter.ts";

/** The documented window of the rate limit. A reading older than this says nothing about the present window. */
const WINDOW_MS = 60_000;

/** The latest moment that a `Date` can be, in milliseconds since the epoch. A service may ask to wait for longer. */
const LATEST_DATE_MS = 8.64e15;

/** What the service said of a token's limit. Times are on the monotonic clock. */
export interface Quota {
  /** Requests per window. */
  readonly limit: number | undefined;
  /** Requests left in the window. */
  readonly remaining: number | undefined;
  /** When this number was first read. */
  readonly since: number;
  /** When a response last confirmed it. */
  readonly observedAt: number;
}

/** Requests left, as far as is known; `Infinity` without a recent reading. */
export function remainingOf({ remaining, observedAt }: Quota, now: number): number {
  const isRecent = now >= observedAt && now - observedAt <= WINDOW_MS;
  return remaining === undefined || !isRecent ? Number.POSITIVE_INFINITY : remaining;
}

/**
 * What is known after a response to a request sent at `startedAt`. Responses overtake one another: a higher number is
 * accepted only from a request that was sent after the lower one was read.
 */
export function observed(known: Quota, head: RateLimitHead, { startedAt, now }: Observation): Quota {
  const limit = head.limit ?? known.limit;
  const { remaining } = head;
  if (remaining === undefined) return { ...known, limit };
  const isNews = startedAt >= known.since || remaining < remainingOf(known, now);
  return isNews ? { limit, remaining, since: now, observedAt: now } : { ...known, limit, observedAt: now };
}

/** When a request was sent, and when its response came. */
interface Observation {
  readonly startedAt: number;
  readonly now: number;
}

/** Before the first response. */
export const NOTHING_READ: Quota = { limit: undefined, remaining: undefined, since: 0, observedAt: 0 };

/** What is known, as it is shown. `learntAt`: by the local clock. */
export function snapshotOf({ limit, remaining }: Quota, learntAt: number, left: Pause | undefined): RateLimitSnapshot {
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(remaining === undefined ? {} : { remaining }),
    observedAt: new Date(learntAt),
    ...(left && { pausedUntil: new Date(Math.min(Date.now() + left.lastsMs, LATEST_DATE_MS)) }),
  };
}
