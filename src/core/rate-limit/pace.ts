/**
 * The width and the distance of a token's requests after a pause, where the service does not say how many are left. A moment
 * is on the monotonic clock.
 */
export interface Pace {
  readonly width: number;
  /** Where the width stops growing. */
  readonly widest: number;
  /** The least time from one request to the next, in milliseconds. */
  readonly distanceMs: number;
  /** The latest time from one request to the next that was too short, in milliseconds. */
  readonly tooNearMs: number;
  readonly passed: number;
  readonly passedAt: number;
  readonly pausedAt: number;
}

export interface PausingRequest {
  readonly at: number;
  readonly sentAt: number;
  /** Requests in flight when it was refused, itself among them. */
  readonly inFlight: number;
  /** It was sent alone, after another one had got through since the pause before. */
  readonly wasAlone: boolean;
}

/** Before the first pause. */
export const UNPACED: Pace = {
  width: Number.POSITIVE_INFINITY,
  widest: Number.POSITIVE_INFINITY,
  distanceMs: 0,
  tooNearMs: 0,
  passed: 0,
  passedAt: 0,
  pausedAt: Number.NEGATIVE_INFINITY,
};

/** A pause that begins so soon after the one before says that the width was too much. */
export const SOON_MS = 10_000;
/** After so long without a 429, the pace is forgotten. */
export const CALM_MS = 60_000;
/** After so many requests that got through, a distance is found, and a tenth less is tried. */
export const LESS_AFTER = 10;
export const LESS = 9 / 10;

export function paceAt(pace: Pace, at: number): Pace {
  const calmMs = at - pace.pausedAt;
  return calmMs < 0 || calmMs > CALM_MS ? UNPACED : pace;
}

/** The milliseconds until the next request may be sent, so long after the latest one: 0 or less if it may be sent now. */
export function distanceLeft({ distanceMs }: Pace, sinceMs: number): number {
  // A fake clock may have gone back since.
  return Math.min(distanceMs - sinceMs, distanceMs);
}

/**
 * The pace after a 429: one at a time, and up to half the width if the pause before is near; then at a distance. A distance
 * that was found is one step too short; any other doubles. If each doubled, a bucket would give far less of its rate.
 */
export function narrowed(known: Pace, { at, sentAt, inFlight, wasAlone }: PausingRequest): Pace {
  const pace = paceAt(known, at);
  const isPaced = pace.distanceMs > 0;
  const isSoon = isPaced || at - pace.pausedAt <= SOON_MS;
  const began = Math.min(pace.width, inFlight);
  const isTooNear = isSoon && wasAlone;
  // A stall on the way is no distance: what was too near is the distance that was kept.
  const nearMs = pace.distanceMs || sentAt - pace.passedAt;
  const isFound = isPaced && pace.passed >= LESS_AFTER;
  return {
    width: 1,
    widest: isSoon ? Math.max(1, Math.floor(began / 2)) : Number.POSITIVE_INFINITY,
    distanceMs: isTooNear ? Math.max(isFound ? nearMs / LESS : 2 * nearMs, 1) : pace.distanceMs,
    tooNearMs: isTooNear ? nearMs : pace.tooNearMs,
    passed: 0,
    passedAt: pace.passedAt,
    pausedAt: at,
  };
}

/**
 * The pace after a request that got through, and was sent at this moment: one wider, and nearer after some of them, but
 * never as near as what was refused.
 */
export function widened(pace: Pace, sentAt: number): Pace {
  if (pace === UNPACED) return pace;
  const { distanceMs, tooNearMs, width, widest } = pace;
  const passed = pace.passed + 1;
  const nearerMs = distanceMs * LESS;
  return {
    ...pace,
    width: Math.min(width + 1, widest),
    distanceMs: passed % LESS_AFTER === 0 && nearerMs > tooNearMs ? nearerMs : distanceMs,
    passed,
    passedAt: Math.max(pace.passedAt, sentAt),
  };
}
