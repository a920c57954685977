import { now } from "../clock.ts";
import type { RateLimitAnswer, RateLimitSnapshot } from "./rate-limiter.ts";

/** The documented window of the rate limit. A reading older than this says nothing about the present window. */
export const WINDOW_MS = 60_000;

/** What the service said is left of a window. Times are on the clock of `performance.now()`. */
export interface QuotaReading {
  /** Requests left in the window. */
  readonly remaining: number;
  /** When this number was first read. */
  readonly since: number;
  /** When a response last confirmed it. */
  readonly observedAt: number;
}

/** The latest that the service said of a token's limit. */
export class Quota {
  #reading: QuotaReading | undefined;
  #limit: number | undefined;
  #observedAt: Date | undefined;

  /** Requests left, as far as is known; `Infinity` without a recent reading. */
  get remaining(): number {
    if (this.#reading === undefined || now() - this.#reading.observedAt > WINDOW_MS) return Number.POSITIVE_INFINITY;
    return this.#reading.remaining;
  }

  get snapshot(): RateLimitSnapshot | undefined {
    if (this.#observedAt === undefined) return undefined;
    return {
      ...(this.#limit === undefined ? {} : { limit: this.#limit }),
      ...(this.#reading === undefined ? {} : { remaining: this.#reading.remaining }),
      observedAt: new Date(this.#observedAt),
    };
  }

  /**
   * Reads a response to a request sent at `startedAt`. Responses overtake one another: a higher number is accepted only
   * from a request that was sent after the lower one was read.
   */
  observe({ remaining, limit }: RateLimitAnswer, startedAt: number): void {
    this.#observedAt = new Date();
    this.#limit = limit ?? this.#limit;
    if (remaining === undefined) return;
    const observedAt = now();
    if (this.#reading === undefined || startedAt >= this.#reading.since || remaining < this.remaining) {
      this.#reading = { remaining, since: observedAt, observedAt };
    } else {
      this.#reading = { ...this.#reading, observedAt };
    }
  }

  /** Takes over a reading made elsewhere. */
  merge(reading: QuotaReading | undefined, limit: number | undefined): void {
    if (reading === undefined && limit === undefined) return;
    this.#reading = reading ?? this.#reading;
    this.#limit = limit ?? this.#limit;
    this.#observedAt = new Date(reading === undefined ? Date.now() : Date.now() - (now() - reading.observedAt));
  }
}
