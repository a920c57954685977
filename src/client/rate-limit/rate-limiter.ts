import { ignoreErrors } from "../checks/ignore-errors.ts";

/**
 * Decides when a request may be sent. The service limits requests per token, so all clients that share a token should
 * share one rate limiter. `memoryRateLimiter()` is the one for a single process; a shared store can take its place by
 * implementing this interface.
 */
export interface RateLimiter {
  /** Registers a call, once, when it begins. The permit keeps the call's place in the queue over all its requests. */
  enter(call: RateLimitedCall): Permit;
  /** The `token()` of some call has changed: waiting calls that have another token now are let go, as `moved`. */
  refresh(): void;
  /** What is known of a token's limit; `undefined` if nothing is, and no pause runs. */
  snapshot(token: string): RateLimitSnapshot | undefined;
}

/** What a rate limiter reads of a call. */
export interface RateLimitedCall {
  /** The latest token that the call's client knows. */
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

/**
 * A call's place in the queue. For each request: `acquire`, then `report` if a response came, and `release` at the end of
 * everything that was admitted. What `report` and `release` throw is ignored.
 */
export interface Permit {
  /**
   * Waits until a request with this token may be sent. Returns a value at once if the call does not have to wait. Never
   * rejects. An admitted permit that acquires again gives up what it was admitted for.
   */
  acquire(token: string): Admission | Promise<Admission>;
  /**
   * The head of the response has come. Returns the pause that it begins or prolongs, which is waited for after a 429 alone.
   * A 429 for which nothing is returned ends the call.
   */
  report(head: RateLimitHead): ReportedPause | undefined;
  /** The admitted request is over, however it ended. */
  release(): void;
}

/** How a wait ended. */
export type Admission =
  /**
   * The request may be sent. `waited`: it took a while, so the call reads its token again, and acquires again with that. A
   * limiter that says so each time lets no request go.
   */
  | { readonly kind: "admitted"; readonly waited?: boolean | undefined }
  /** The call reads its latest token, and acquires again with that, at its place. */
  | { readonly kind: "moved" }
  /** The call's signal aborted. */
  | { readonly kind: "stopped" }
  /** The token's pause is longer than the call waits for, or there were too many of them. */
  | { readonly kind: "refused"; readonly pauseMs: number };

/** What the head of a response says about the limit. */
export interface RateLimitHead {
  /** HTTP status; 429 begins a pause. */
  readonly status: number;
  /** `Retry-After` in milliseconds, if there is a valid one. */
  readonly retryAfterMs: number | undefined;
  /** `RateLimit-Limit`. */
  readonly limit: number | undefined;
  /** `RateLimit-Remaining`. */
  readonly remaining: number | undefined;
}

/** What a rate limiter knows of a token. One of the caller's own that fails at it knows nothing. */
export function snapshotOf(rateLimiter: Pick<RateLimiter, "snapshot">, token: string): RateLimitSnapshot | undefined {
  return ignoreErrors(() => rateLimiter.snapshot(token));
}

/** What is left of a token's pause, in milliseconds, as far as the rate limiter can tell. */
export function pauseLeft(rateLimiter: Pick<RateLimiter, "snapshot">, token: string): number | undefined {
  const until = snapshotOf(rateLimiter, token)?.pausedUntil;
  return until && ignoreErrors(() => Math.max(0, until.getTime() - Date.now()));
}

/** The pause that a 429 has begun or prolonged. */
export interface ReportedPause {
  /** How long nothing is sent with the token, in milliseconds from now on. */
  readonly pauseMs: number;
  /** Whether the call waits for it and is sent again; otherwise it fails with its 429. */
  readonly waits: boolean;
}

/** The latest that is known of a token's rate limit. */
export interface RateLimitSnapshot {
  /** Requests per window. */
  readonly limit?: number | undefined;
  /** Requests left in the window, as of `observedAt`. */
  readonly remaining?: number | undefined;
  /** When this was learnt, by the local clock. */
  readonly observedAt: Date;
  /** Set while nothing may be sent with the token. */
  readonly pausedUntil?: Date | undefined;
}
