/** So many requests per token and window. `limit: 0` refuses everything. */
export interface RateLimit {
  /** Requests per token and window. */
  readonly limit: number;
  /** The length of a window. @default 60_000, a minute in the API documentation */
  readonly windowMs?: number | undefined;
}

/** The numbers of the rate-limit headers; `retryAfterSeconds` only if the request was refused. */
export interface Quota {
  readonly limit: number;
  readonly remaining: number;
  readonly retryAfterSeconds?: number | undefined;
}

/** The numbers where nothing is limited: with `rateLimit: false`, and for requests without a valid token. */
export const UNLIMITED: Quota = { limit: 1_000_000, remaining: 1_000_000 };

export interface OpenWindow {
  readonly limit: number;
  readonly remaining: number;
  readonly endsAt: number;
}

interface Window {
  readonly openedAt: number;
  used: number;
}

/**
 * Fixed windows, one per token: a window opens with the first request that a token makes after its last one has ended,
 * and a refused request does not count.
 */
export class RateLimiter {
  readonly windowMs: number;
  readonly limit: number;
  readonly #windows = new Map<string, Window>();

  constructor(rateLimit: RateLimit | false) {
    const { limit, windowMs = 60_000 } = rateLimit === false ? { limit: Infinity } : rateLimit;
    this.limit = limit;
    this.windowMs = windowMs;
  }

  /** Counts one request of `token` at `now`, unless it is to be refused. */
  take(token: string, now: number): Quota {
    if (this.limit === Infinity) return UNLIMITED;
    const window = this.#current(token, now) ?? { openedAt: now, used: 0 };
    this.#windows.set(token, window);
    if (window.used < this.limit) {
      window.used += 1;
      return { limit: this.limit, remaining: this.limit - window.used };
    }
    const seconds = Math.ceil((window.openedAt + this.windowMs - now) / 1000);
    return { limit: this.limit, remaining: 0, retryAfterSeconds: Math.max(1, seconds) };
  }

  /** The state of the token's window; counts nothing. */
  peek(token: string, now: number): Quota {
    if (this.limit === Infinity) return UNLIMITED;
    return { limit: this.limit, remaining: this.limit - (this.#current(token, now)?.used ?? 0) };
  }

  windowOf(token: string, now: number): OpenWindow | undefined {
    const window = this.#current(token, now);
    if (window === undefined) return undefined;
    return { limit: this.limit, remaining: this.limit - window.used, endsAt: window.openedAt + this.windowMs };
  }

  #current(token: string, now: number): Window | undefined {
    const window = this.#windows.get(token);
    // A clock that was set back ends the window: otherwise the wait would grow by the step.
    const isOpen = window !== undefined && now >= window.openedAt && now < window.openedAt + this.windowMs;
    return isOpen ? window : undefined;
  }
}
