import type { EmulatorOptions } from "../../src/testing/index.ts";

/**
 * Options of an emulator whose windows last as long as a client needs to use them up, on a machine however busy: its
 * clock goes on when the pause that a 429 asked for is over, counted from when the request came. So a client that waits
 * for it finds a new window. Otherwise the clock stands still, but for a moment at each look, so that what it dates is in
 * order.
 */
export function windowsInPauses(limit: number, windowMs: number): EmulatorOptions {
  const MOMENT_MS = 0.001;
  let time = 0;
  /** When each time was looked at, on the clock of this process. */
  const looks = new Map<number, number>();
  let pauseEndsAt = Number.POSITIVE_INFINITY;
  return {
    rateLimit: { limit, windowMs },
    now: () => {
      const lookedAt = performance.now();
      if (lookedAt >= pauseEndsAt) [time, pauseEndsAt] = [time + windowMs, Number.POSITIVE_INFINITY];
      time += MOMENT_MS;
      looks.set(time, lookedAt);
      return time;
    },
    onRequest: ({ at, status }) => {
      if (status === 429) pauseEndsAt = (looks.get(at) ?? performance.now()) + windowMs;
    },
  };
}
