import { ignoreErrors } from "../checks/ignore-errors.ts";

/**
 * Decides when a request may be sent. A service limits the requests of each token, so clients that share a token there
 * should share one rate limiter. `memoryRateLimiter()` is the one for a single process; a shared store can take its place by
 * implementing this interface. What `enter` and `acquire` throw ends the call with a `ConnectionError`. What it throws
 * later is ignored: a response has arrived then. It has to heed the `signal` of a call by itself.
 */
export interface RateLimiter {
  /** Registers a call, once, when it begins. The permit keeps the call's position in the queue over all its requests. */
  enter(call: RateLimitedCall): Permit;
  /** The latest that is known of a token's limit at a service; `undefined` if nothing is, and no pause runs. */
  snapshot(token: string, service: string): RateLimitSnapshot | undefined;
}

/** A call, as a rate limiter sees it. */
export interface RateLimitedCall {
  /** The origin and base path that the call is sent to. Each service has its own limit of a token. */
  readonly service: string;
  /** The call waits until fewer requests of its token are in flight. */
  readonly maxConcurrency: number;
  /** The most pauses in a row, without a request of the token getting through in between, that the call waits for. */
  readonly maxPauses: number;
  /** The longest pause that the call waits for, in milliseconds, as the service asked. */
  readonly maxPauseMs: number;
  /** The end of the call's `totalTimeoutMs`, on the clock of `performance.now()`; `Infinity` without one. */
  readonly endsAt: number;
  /** The longest time that one request takes, in milliseconds; `Infinity` without a limit. */
  readonly timeoutMs: number;
  /** Ends its waiting. */
  readonly signal: AbortSignal;
}

/**
 * A call's position in the queue. For each request: `acquire`, then `report` if a response came, and `release` at the end.
 * A platform may drop a call between any two of these: a slot has to end with the call's `timeoutMs`, too.
 */
export interface Permit {
  /**
   * Waits until a request with this token may be sent. Returns a value at once if the call does not have to wait. Never
   * rejects.
   */
  acquire(token: string): Admission | Promise<Admission>;
  /**
   * The head of the response has come. Returns the pause that it begins or prolongs, which is waited for after a 429 alone.
   * A 429 for which nothing is returned ends the call.
   */
  report(head: RateLimitHead): ReportedPause | undefined;
  /** The admitted request is over, however it ended; or the call leaves the queue. It may acquire again, at its position. */
  release(): void;
}

/** The end of a wait. */
export type Admission =
  /** The request may be sent. */
  | { readonly kind: "admitted" }
  /** The call's signal aborted. */
  | { readonly kind: "stopped" }
  /** The token's pause is longer than the call waits for, or there were too many of them. */
  | { readonly kind: "refused"; readonly pauseMs: number };

/** The head of a response, as far as it is about the limit. */
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

/** The rest of a token's pause at the service of a client, in milliseconds; `undefined` if none is known. */
export function pauseLeftMs(
  { rateLimiter, baseUrl }: { readonly rateLimiter: Pick<RateLimiter, "snapshot">; readonly baseUrl: string },
  token: string,
): number | undefined {
  const until = ignoreErrors(() => rateLimiter.snapshot(token, baseUrl))?.pausedUntil;
  return until && Math.max(0, until.getTime() - Date.now());
}

/** The pause that a 429 has begun or prolonged. */
export interface ReportedPause {
  /** The rest of the pause of the token, in milliseconds from now on. */
  readonly pauseMs: number;
  /** `true` if the call waits for it and is sent again; otherwise it fails with its 429. */
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
