import { lengthened, shortened } from "../base/clock.ts";

/** What is left of a pause. */
export interface Pause {
  /** Of what the service asked for, in milliseconds. */
  readonly askedMs: number;
  /** Until something may be sent, in milliseconds: what was asked for, and the jitter on top. */
  readonly lastsMs: number;
}

/** A pause as it was at a moment on the monotonic clock. */
export interface PauseAt extends Pause {
  readonly at: number;
}

/** Random part that is added to a pause the service asked for. A small part, since every call of the token loses it. */
const ASKED_JITTER = 1 / 20;
/** From the second 429 in a row on, no pause is shorter than this, doubling: `Retry-After: 0` forever is bounded. */
const FLOOR_MS = 250;
const MAX_FLOOR_MS = 30_000;
/**
 * Pauses after a 429 without a usable `Retry-After`. The documented window is a minute; together these outlast it, even
 * at their shortest.
 */
const UNASKED_MS = [5_000, 10_000, 20_000, 30_000, 30_000] as const;
const UNASKED_JITTER = 1 / 5;

/** What is left of a pause at a later moment; nothing, too, if the clock has gone back since: then it was a fake one. */
export function leftOf({ askedMs, lastsMs, at }: PauseAt, now: number): Pause | undefined {
  const passedMs = now - at;
  if (passedMs < 0 || passedMs >= lastsMs) return undefined;
  return { askedMs: Math.max(0, askedMs - passedMs), lastsMs: lastsMs - passedMs };
}

/**
 * How long nothing is sent after a 429: never less than the service asked for.
 *
 * @param retryAfterMs what the service asked for, if it did
 * @param refusals how many 429s in a row this is, from 1
 * @param random in [0, 1)
 */
export function pauseDuration(retryAfterMs: number | undefined, refusals: number, random: number): Pause {
  if (retryAfterMs === undefined) {
    const unasked = UNASKED_MS[Math.min(refusals, UNASKED_MS.length) - 1] ?? UNASKED_MS[0];
    const wait = shortened(unasked, UNASKED_JITTER, random);
    return { askedMs: wait, lastsMs: wait };
  }
  const floor = refusals < 2 ? 0 : Math.min(FLOOR_MS * 2 ** Math.min(refusals - 2, 20), MAX_FLOOR_MS);
  const askedMs = Math.max(retryAfterMs, floor);
  return { askedMs, lastsMs: lengthened(askedMs, ASKED_JITTER, random) };
}
