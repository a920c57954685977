/**
 * Decides when an attempt may be sent. The service limits requests per token (contract, section 8), so all clients that
 * share a token should share one of these. `memoryRateLimiter()` is the one for a single process; a shared store can
 * take its place by implementing this interface.
 */
export interface RateLimiter {
  /** Gives a call its place in line, which it keeps over all its attempts. Called once per call, when it begins. */
  enter(call: RateLimitedCall): Permit;
  /** The token that some call's `token()` gives has changed: whoever waits for the old one's pause need not. */
  refresh(): void;
  /** What is known of a token's limit; `undefined` before the first answer. */
  snapshot(token: string): RateLimitSnapshot | undefined;
}

/** What a rate limiter may ask of a call that waits. */
export interface RateLimitedCall {
  /** The token that the call would be sent with now. */
  token(): string;
  /** At most so many in flight; where calls differ, the smallest counts. */
  readonly maxConcurrency: number;
  /** How many pauses in a row, none of which let anything through, the call sits through. */
  readonly maxPauses: number;
  /** The longest pause that the call waits for, in milliseconds, as the service asked. */
  readonly maxPauseMs: number;
  /** When the call's `totalTimeoutMs` is over, on the clock of `performance.now()`; `Infinity` without one. */
  readonly endsAt: number;
  /** Ends its waiting. */
  readonly signal: AbortSignal;
}

/** What is left of a pause. */
export interface Pause {
  /** Of what the service asked for, in milliseconds. */
  readonly askedMs: number;
  /** Until something may be sent: what was asked for and the jitter on top. */
  readonly lastsMs: number;
}

/**
 * A call's place in line. For each attempt: `acquire`, then `confirm` when the token is known, then `report` if a
 * response came, and `release` at the end of whatever was admitted.
 */
export interface Permit {
  /** Waits until the next attempt may be sent; tells at once where nobody has to wait. Never rejects. */
  acquire(): Admission | Promise<Admission>;
  /**
   * Whether the admitted attempt may still be sent, now that its token is known: getting it may have taken long, and it may
   * be another than the one it waited with. If not, the call gives its slot back and waits again, at its place. Never
   * rejects, and does not take long: the attempt's time is running.
   */
  confirm(token: string): boolean | Promise<boolean>;
  /** The head of the answer to the admitted attempt has come. Gives the length of the pause that it begins, if it does. */
  report(answer: RateLimitAnswer): number | undefined;
  /** The admitted attempt is over, however it ended: its slot is free. */
  release(): void;
}

/** What came of waiting. */
export type Admission =
  /** The attempt may be sent. */
  | { readonly kind: "admitted" }
  /** The call's signal aborted. */
  | { readonly kind: "stopped" }
  /** The token's pause is longer than the call would wait, or there were too many of them. */
  | { readonly kind: "refused"; readonly pauseMs: number };

/** What the head of an answer says about the limit. */
export interface RateLimitAnswer {
  /** HTTP status; 429 begins a pause. */
  readonly status: number;
  /** `Retry-After` in milliseconds, where there is one that can be understood. */
  readonly retryAfterMs: number | undefined;
  /** `RateLimit-Limit`. */
  readonly limit: number | undefined;
  /** `RateLimit-Remaining`. */
  readonly remaining: number | undefined;
}

/** The latest that is known of a token's rate limit. */
export interface RateLimitSnapshot {
  /** Requests per window. */
  readonly limit?: number | undefined;
  /** Requests left in the window, as of `observedAt`. */
  readonly remaining?: number | undefined;
  /** When the answer came that told it, by the local clock. */
  readonly observedAt: Date;
  /** Set while nothing may be sent with the token. */
  readonly pausedUntil?: Date | undefined;
}
