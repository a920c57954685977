import { now } from "../clock.ts";
import type { Pause } from "./rate-limiter.ts";

/** The latest moment that a `Date` can be, in milliseconds since the epoch. A service may ask to wait for longer. */
const LATEST_DATE_MS = 8.64e15;

/** The pause of a gate: what the service asked for, and when it ends. Holds no timer. */
export class GatePause {
  /** Ends on the monotonic clock: as the service asked, and with jitter. */
  #ends: { readonly askedUntil: number; readonly until: number } | undefined;

  /** What is left of the pause; `undefined` if none is running. */
  get left(): Pause | undefined {
    if (this.#ends === undefined) return undefined;
    const lastsMs = this.#ends.until - now();
    if (lastsMs > 0) return { lastsMs, askedMs: Math.max(0, this.#ends.askedUntil - now()) };
    this.#ends = undefined;
    return undefined;
  }

  /** When the pause ends, by the local clock. */
  get endDate(): Date | undefined {
    const { left } = this;
    return left && new Date(Math.min(Date.now() + left.lastsMs, LATEST_DATE_MS));
  }

  /** When the pause ends, on the monotonic clock. */
  get endsAt(): number | undefined {
    return this.left === undefined ? undefined : this.#ends?.until;
  }

  /** Begins a pause, or merges it with the running one: the latest end counts. Returns what is left in milliseconds. */
  extend({ askedMs, lastsMs }: Pause): number {
    const until = Math.max(now() + lastsMs, this.#ends?.until ?? 0);
    this.#ends = { askedUntil: Math.max(now() + askedMs, this.#ends?.askedUntil ?? 0), until };
    return Math.max(0, until - now());
  }

  /** Ends the pause at once. */
  clear(): void {
    this.#ends = undefined;
  }
}
