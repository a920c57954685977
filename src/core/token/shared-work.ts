import { now } from "../time/clock.ts";
import { Deadline, STOPPED } from "../time/deadline.ts";
import { TokenUnavailable } from "./token-source.ts";

export const LONGEST_WORK_MS = 5 * 60_000;

/**
 * Work that several calls wait for. A platform may drop the call that began it, and the work with it (a Worker's request
 * that has been answered): so the next call that asks gives it up when it is older than its limit. It rejects with
 * `TokenUnavailable` alone.
 */
export class SharedWork<Result> {
  readonly result: Promise<Result>;
  #endsAt: number;

  constructor(result: Promise<Result>, limitMs: number) {
    this.result = result;
    this.#endsAt = now() + Math.min(limitMs, LONGEST_WORK_MS);
  }

  get isCurrent(): boolean {
    return now() < this.#endsAt;
  }

  get leftMs(): number {
    return Math.max(0, this.#endsAt - now());
  }

  /** Its result; `undefined` if the platform says that it has dropped the work, which is given up then. */
  async wait(): Promise<Result | undefined> {
    try {
      return await this.result;
    } catch (error) {
      if (error instanceof TokenUnavailable) throw error;
      this.#endsAt = 0;
      return undefined;
    }
  }

  /** As `wait`, and `undefined` too when it is older than its limit: each call that waits has a timer of its own. */
  async waitToLimit(): Promise<Result | undefined> {
    const limit = Deadline.of(this.leftMs);
    try {
      return await limit.race(this.wait());
    } catch (error) {
      if (error !== STOPPED) throw error;
      return undefined;
    } finally {
      limit.release();
    }
  }

  /** Its result is there, and may be used for so long from now on. */
  keep(forMs: number): void {
    this.#endsAt = now() + forMs;
  }
}
