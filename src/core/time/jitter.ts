// Waits have a random part, so that those who were stopped together do not come back together. Which way it goes depends on
// which end of the wait matters.

const MAX_ADDED_MS = 1_000;

/** A wait that the service asked for: only ever longer, by up to `part` of it and at most a second. `random` is in [0, 1). */
export function lengthened(waitMs: number, part: number, random: number): number {
  return waitMs + random * Math.min(MAX_ADDED_MS, waitMs * part);
}

/** A wait whose setting is the longest: only ever shorter, by up to `part` of it. */
export function shortened(waitMs: number, part: number, random: number): number {
  return waitMs * (1 - part * (1 - random));
}
