import { now } from "../clock.ts";
import type { RateLimitAnswer, RateLimitSnapshot } from "./rate-limiter.ts";

/** The documented window. What was said of a window longer ago than this says nothing about the present one. */
export const WINDOW_MS = 60_000;

/** What is left: since when that is believed, and when the service last said so or more. */
export interface Said {
  readonly remaining: number;
  readonly since: number;
  readonly heardAt: number;
}

/** What the service has said of a token's limit. */
export class Allowance {
  #said: Said | undefined;
  #limit: number | undefined;
  #observedAt: Date | undefined;

  get left(): number {
    if (this.#said === undefined || now() - this.#said.heardAt > WINDOW_MS) return Number.POSITIVE_INFINITY;
    return this.#said.remaining;
  }

  get snapshot(): RateLimitSnapshot | undefined {
    if (this.#observedAt === undefined) return undefined;
    return {
      ...(this.#limit === undefined ? {} : { limit: this.#limit }),
      ...(this.#said === undefined ? {} : { remaining: this.#said.remaining }),
      observedAt: new Date(this.#observedAt),
    };
  }

  // Answers overtake one another: a higher number is believed only of a request that was sent after the lower was heard.
  hear({ remaining, limit }: RateLimitAnswer, startedAt: number): void {
    this.#observedAt = new Date();
    this.#limit = limit ?? this.#limit;
    if (remaining === undefined) return;
    const heardAt = now();
    if (this.#said === undefined || startedAt >= this.#said.since || remaining < this.left) {
      this.#said = { remaining, since: heardAt, heardAt };
    } else {
      this.#said = { ...this.#said, heardAt };
    }
  }

  /** Takes over what the service has told others. */
  learn(said: Said | undefined, limit: number | undefined): void {
    if (said === undefined && limit === undefined) return;
    this.#said = said ?? this.#said;
    this.#limit = limit ?? this.#limit;
    this.#observedAt = new Date(said === undefined ? Date.now() : Date.now() - (now() - said.heardAt));
  }
}
