import type { Pace } from "./pace.ts";
import type { Pause } from "./pause.ts";
import type { Quota } from "./quota.ts";

/** The knowledge of a gate about its token. Processes share it. */
export interface GateState {
  /** The latest that the service said of the token's limit. */
  readonly quota: Quota;
  /** The rest of the pause. */
  readonly pause: Pause | undefined;
  /** Pauses in a row, without a request getting through. */
  readonly refusals: number;
  /** One request goes at a time, until one has got through. */
  readonly mustProbe: boolean;
  /** The width and the distance after a pause. */
  readonly pace: Pace;
}
