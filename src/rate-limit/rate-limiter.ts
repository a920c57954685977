/**
 * Decides when an attempt may be sent. The service limits requests per token, so all clients that share a token should
 * share one rate limiter. `memoryRateLimiter()` is the one for a single process; a shared store can take its place by
 * implementing this interface.
 */
export interface RateLimiter {
  /** Registers a call, once, when it begins. The permit keeps the call's place in the queue over all its attempts. */
  enter(call: RateLimitedCall): Permit;
  /** The `token()` of some call has changed. A call that waits for the pause of its former token no longer has to. */
  refresh(): void;
  /** What is known of a token's limit; `undefined` before the first response. */
  snapshot(token: string): RateLimitSnapshot | undefined;
}

/** What a rate limiter reads of a call. */
export interface RateLimitedCall {
  /** The token that the call would be sent with now; `""` as long as it is not known. */
  token(): string;
  /** The most requests in flight per token. Where calls of a token differ, the smallest counts. */
  readonly maxConcurrency: number;
  /** How many pauses in a row, without a request getting through in between, the call waits for. */
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
  /** Until something may be sent, in milliseconds: what was asked for, and the jitter on top. */
  readonly lastsMs: number;
}

/**
 * A call's place in the queue. For each attempt: `acquire`, then `confirm` when the token is known, then `report` if a
 * response came, and `release` at the end of everything that was admitted.
 */
export interface Permit {
  /**
   * Waits until the next attempt may be sent. Returns a value at once if the call does not have to wait. Never rejects.
   *
   * @param token a token that was read just now: the attempt is sent with it if that is possible at once. It goes before
   * attempts that were admitted and still read theirs, which may turn out to be another one.
   */
  acquire(token?: string): Admission | Promise<Admission>;
  /**
   * Whether the admitted attempt may be sent, now that its token is known: reading it may have taken long, and it may be
   * another one than the call waited with. If not, the call releases the permit and acquires it again, at its place. Never
   * rejects, and does not take long, since the attempt's time is running.
   */
  confirm(token: string): boolean | Promise<boolean>;
  /** The head of the response has come. Returns the length of the pause that it begins, in milliseconds, if it does. */
  report(answer: RateLimitAnswer): number | undefined;
  /** The admitted attempt is over, however it ended. */
  release(): void;
}

/** How a wait ended. */
export type Admission =
  /** The attempt may be sent. */
  | { readonly kind: "admitted" }
  /** The call's signal aborted. */
  | { readonly kind: "stopped" }
  /** The token's pause is longer than the call waits for, or there were too many of them. */
  | { readonly kind: "refused"; readonly pauseMs: number };

/** What the head of a response says about the limit. */
export interface RateLimitAnswer {
  /** HTTP status; 429 begins a pause. */
  readonly status: number;
  /** `Retry-After` in milliseconds, if there is a valid one. */
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
  /** When the response came that said so, by the local clock. */
  readonly observedAt: Date;
  /** Set while nothing may be sent with the token. */
  readonly pausedUntil?: Date | undefined;
}
