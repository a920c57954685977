const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const MIN_INTERVAL_MS = 10 * MINUTE_MS;
/** Half the shortest life that a token can be given (one day). */
const MAX_INTERVAL_MS = 12 * HOUR_MS;

const MIN_PAUSE_MS = MINUTE_MS;
const MAX_PAUSE_MS = HOUR_MS;

/** One moment on both clocks, in milliseconds: `wall` may jump and may be wrong, `monotonic` only measures durations. */
export interface Moment {
  readonly wall: number;
  readonly monotonic: number;
}

export interface RotationSchedule {
  readonly dueAt: number;
  /** The same moment on the monotonic clock, in case the wall clock is set back. */
  readonly dueAtAge: number;
  /** On the monotonic clock: not before this moment, whatever the wall clock says. */
  readonly notBefore: number;
}

export function isRotationDue({ dueAt, dueAtAge, notBefore }: RotationSchedule, at: Moment): boolean {
  return at.monotonic >= notBefore && (at.wall >= dueAt || at.monotonic >= dueAtAge);
}

export function scheduleInitial(expiresAt: number, renewBeforeMs: number, at: Moment): RotationSchedule {
  const dueAt = expiresAt - renewBeforeMs;
  return { dueAt, dueAtAge: at.monotonic + dueAt - at.wall, notBefore: at.monotonic };
}

/** The expiry of a token that has just been replaced, and of its replacement, in milliseconds on the service's clock. */
interface Replacement {
  readonly expiredAt: number;
  readonly expiresAt: number;
}

/**
 * The schedule of a token that a rotation has just returned. It is used for half its remaining life at least. If it seems
 * to have none, the local clock is wrong; if it expires no later than its predecessor, rotating again gains nothing. In
 * both cases `expires_at` does not say when to rotate, and the age of the token decides.
 */
export function scheduleReplacement(
  { expiredAt, expiresAt }: Replacement,
  renewBeforeMs: number,
  at: Moment,
): RotationSchedule {
  const remainingMs = Math.max(0, expiresAt - at.wall);
  const initial = scheduleInitial(expiresAt, Math.min(renewBeforeMs, remainingMs / 2), at);
  const isExtended = remainingMs > 0 && expiresAt > expiredAt;
  const intervalMs = isExtended ? Math.max(MIN_INTERVAL_MS, remainingMs / 2) : MAX_INTERVAL_MS;
  return { ...initial, notBefore: at.monotonic + Math.min(intervalMs, MAX_INTERVAL_MS) };
}

/** The pause after so many rotations in a row have failed: one minute, then twice as long each time, up to an hour. */
export function pauseAfter(failures: number): number {
  return Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** (failures - 1));
}
