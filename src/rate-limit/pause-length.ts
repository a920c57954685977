import { lengthened, shortened } from "../jitter.ts";
import type { Pause } from "./rate-limiter.ts";

/** A small part, since it is lost time for everybody. */
const TOLD_JITTER = 1 / 20;
/** From the second refusal in a row on, no pause is shorter than this, doubling: `Retry-After: 0` forever is no loop. */
const FLOOR_MS = 250;
const MAX_FLOOR_MS = 30_000;
/**
 * Pauses after a 429 that does not say how long. The documented window is a minute, so together they are longer than one
 * even at their shortest.
 */
const UNTOLD_MS = [5_000, 10_000, 20_000, 30_000, 30_000] as const;
const UNTOLD_JITTER = 1 / 5;

/**
 * How long nothing is sent after a 429: never less than the service asked for.
 *
 * @param retryAfterMs what the service asked for, if it did
 * @param refusals how many refusals in a row this is, from 1
 * @param random in [0, 1)
 */
export function pauseLength(retryAfterMs: number | undefined, refusals: number, random: number): Pause {
  if (retryAfterMs === undefined) {
    const untold = UNTOLD_MS[Math.min(refusals, UNTOLD_MS.length) - 1] ?? UNTOLD_MS[0];
    const wait = shortened(untold, UNTOLD_JITTER, random);
    return { askedMs: wait, lastsMs: wait };
  }
  const floor = refusals < 2 ? 0 : Math.min(FLOOR_MS * 2 ** Math.min(refusals - 2, 20), MAX_FLOOR_MS);
  const askedMs = Math.max(retryAfterMs, floor);
  return { askedMs, lastsMs: lengthened(askedMs, TOLD_JITTER, random) };
}
