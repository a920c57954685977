import type { QuotaReading } from "./quota.ts";
import type { Pause } from "./rate-limiter.ts";

/** What processes that use the same token share about it. */
export interface SharedState {
  /** What is left of the running pause. */
  readonly pause: Pause | undefined;
  /** Pauses in a row since a request last got through. */
  readonly refusals: number;
  /** Whether, once no pause runs, one request goes ahead alone. */
  readonly mustProbe: boolean;
}

/** What processes share about a token, and what the service told any of them about its limit. */
export interface SharedReading extends SharedState {
  readonly quota: QuotaReading | undefined;
  readonly limit: number | undefined;
}
