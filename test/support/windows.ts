import type { EmulatorOptions } from "../../src/testing/index.ts";

/**
 * Options of an emulator whose windows last as long as a client needs to use them up, on a machine however busy: its
 * clock goes on when a pause that a 429 asked for is over, just before a client that waited sends again. Otherwise it
 * stands still, but for a moment at each look, so that what it dates is in order.
 */
export function windowsInPauses(limit: number, windowMs: number): EmulatorOptions {
  const MOMENT_MS = 0.001;
  let time = 0;
  return {
    rateLimit: { limit, windowMs },
    now: () => {
      time += MOMENT_MS;
      return time;
    },
    onRequest: ({ status }) => {
      const goOn = (): void => {
        time += windowMs;
      };
      if (status === 429) setTimeout(goOn, windowMs);
    },
  };
}
