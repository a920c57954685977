import { lengthened } from "../time/jitter.ts";

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
/**
 * The first pause after a 429 without a usable `Retry-After`: a proxy's limit is over soon. From the second one on they
 * double, so that five of them outlast the documented window of a minute.
 */
const FIRST_UNASKED_MS = 500;
const UNASKED_MS = 4_000;
const UNASKED_JITTER = 1 / 10;
const MAX_OWN_MS = 32_000;

/** The rest of a pause at a later moment; nothing, too, if the clock has gone back since: then it was a fake one. */
export function leftOf({ askedMs, lastsMs, at }: PauseAt, now: number): Pause | undefined {
  const passedMs = now - at;
  if (passedMs < 0 || passedMs >= lastsMs) return undefined;
  return { askedMs: Math.max(0, askedMs - passedMs), lastsMs: lastsMs - passedMs };
}

/**
 * The pause after a 429: never less than the service asked for.
 *
 * @param retryAfterMs what the service asked for, if it did
 * @param inARow how many 429s in a row this is, from 1
 * @param random in [0, 1)
 */
export function pauseDuration(retryAfterMs: number | undefined, inARow: number, random: number): Pause {
  if (retryAfterMs === undefined) {
    const ownMs = inARow < 2 ? FIRST_UNASKED_MS : doubled(UNASKED_MS, inARow - 2);
    const wait = ownMs * (1 + UNASKED_JITTER * random);
    return { askedMs: wait, lastsMs: wait };
  }
  const askedMs = Math.max(retryAfterMs, inARow < 2 ? 0 : doubled(FLOOR_MS, inARow - 2));
  return { askedMs, lastsMs: lengthened(askedMs, ASKED_JITTER, random) };
}

function doubled(ms: number, times: number): number {
  return Math.min(ms * 2 ** times, MAX_OWN_MS);
}
