import { now } from "../time/clock.ts";
import { Deadline, STOPPED } from "../time/deadline.ts";
import { TokenUnavailable } from "./token-source.ts";

export const LONGEST_WORK_MS = 5 * 60_000;

/**
 * Work that several calls wait for. A platform may drop the call that began it, and the work with it (a Worker's request
 * that has been answered): so the next call that asks gives it up when it is older than its limit. It rejects with
 * `TokenUnavailable` alone.
 */
export class SharedWork {
  readonly #ended: Promise<void>;
  #endsAt: number;

  constructor(ended: Promise<void>, limitMs: number) {
    this.#ended = ended;
    this.#endsAt = now() + Math.min(limitMs, LONGEST_WORK_MS);
  }

  get isCurrent(): boolean {
    return now() < this.#endsAt;
  }

  get leftMs(): number {
    return Math.max(0, this.#endsAt - now());
  }

  /** Waits for its end. If the platform says that it has dropped the work, it is given up. */
  async wait(): Promise<void> {
    try {
      await this.#ended;
    } catch (error) {
      if (error instanceof TokenUnavailable) throw error;
      this.#endsAt = 0;
    }
  }

  /** As `wait`, and no longer than to its limit: each call that waits has a timer of its own. */
  async waitToLimit(): Promise<void> {
    const limit = Deadline.of(this.leftMs);
    try {
      await limit.race(this.wait());
    } catch (error) {
      if (error !== STOPPED) throw error;
    } finally {
      limit.release();
    }
  }

  /** Its result is there, and may be used for so long from now on. */
  keep(forMs: number): void {
    this.#endsAt = now() + forMs;
  }
}
