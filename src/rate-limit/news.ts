import type { Said } from "./allowance.ts";
import type { Pause } from "./rate-limiter.ts";

/** What all processes together have been told of a token. */
export interface News {
  /** What is left of the pause that runs. */
  readonly pause: Pause | undefined;
  /** Counts pauses. */
  readonly pauses: number;
  /** Pauses since anything got through. */
  readonly refusals: number;
  /** Counts how often something got through after a refusal. */
  readonly streak: number;
  /** Nothing has got through since a pause. */
  readonly mustProbe: boolean;
  readonly said: Said | undefined;
  readonly limit: number | undefined;
}
