/**
 * The width and the distance of a token's requests after a pause, where the service does not say how many are left. A moment
 * is on the monotonic clock.
 */
export interface Pace {
  readonly width: number;
  /** Where the width stops growing. */
  readonly widest: number;
  /** The least time from one request to the next, in milliseconds: at most a second. */
  readonly distanceMs: number;
  /** Until then, no shorter distance is tried. */
  readonly keptUntil: number;
  /** Requests that got through since the latest pause. */
  readonly passed: number;
  readonly passedAt: number;
  readonly pausedAt: number;
}

interface PausingRequest {
  readonly at: number;
  readonly sentAt: number;
  /** Requests in flight when it was refused, itself among them. */
  readonly inFlight: number;
  /** The pause that it begins. */
  readonly pauseMs: number;
}

/** Before the first pause. */
export const UNPACED: Pace = {
  width: Number.POSITIVE_INFINITY,
  widest: Number.POSITIVE_INFINITY,
  distanceMs: 0,
  keptUntil: 0,
  passed: 0,
  passedAt: 0,
  pausedAt: Number.NEGATIVE_INFINITY,
};

/** A pause that begins so soon after the one before says that the width was too much. */
const SOON_MS = 10_000;
/** After so long without a 429, the pace is forgotten. */
export const CALM_MS = 60_000;
/** A service that allows less says how long to wait, or is asked again as pauses go. */
const LONGEST_DISTANCE_MS = 1_000;
/** After each request that got through, a tenth less is tried. */
export const LESS = 9 / 10;
/** A refusal costs a pause. No shorter distance is tried for so many times its length. */
const KEPT_PAUSES = 4;

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
 * at which another one had got through is one step too short; any other doubles.
 */
export function narrowed(known: Pace, { at, sentAt, inFlight, pauseMs }: PausingRequest): Pace {
  const pace = paceAt(known, at);
  const isPaced = pace.distanceMs > 0;
  const isSoon = isPaced || at - pace.pausedAt <= SOON_MS;
  const began = Math.min(pace.width, inFlight);
  // The first one after a pause is at no distance.
  const isTooNear = isSoon && pace.widest === 1 && pace.passed > 0;
  // A stall on the way is no distance: what was too near is the distance that was kept.
  const nearMs = pace.distanceMs || sentAt - pace.passedAt;
  const fartherMs = Math.max(isPaced && pace.passed > 1 ? nearMs / LESS : 2 * nearMs, 1);
  return {
    width: 1,
    widest: isSoon ? Math.max(1, Math.floor(began / 2)) : Number.POSITIVE_INFINITY,
    distanceMs: isTooNear ? Math.min(fartherMs, LONGEST_DISTANCE_MS) : pace.distanceMs,
    keptUntil: at + KEPT_PAUSES * pauseMs,
    passed: 0,
    passedAt: pace.passedAt,
    pausedAt: at,
  };
}

/** The pace after a request that got through, and was sent at this moment: one wider, and nearer after a while. */
export function widened(pace: Pace, sentAt: number): Pace {
  if (pace === UNPACED) return pace;
  const { distanceMs, keptUntil, passed, passedAt, width, widest } = pace;
  return {
    ...pace,
    width: Math.min(width + 1, widest),
    distanceMs: sentAt > keptUntil ? distanceMs * LESS : distanceMs,
    passed: passed + 1,
    passedAt: Math.max(passedAt, sentAt),
  };
}
