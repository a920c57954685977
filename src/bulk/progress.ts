import type { BulkCounts } from "../core/errors/bulk-error.ts";
import { now } from "../core/time/clock.ts";
import type { BulkState } from "./journal.ts";

/** The end of a run that has finished: no item is left. */
export type BulkSummary = Pick<BulkCounts, "done" | "skipped">;

/** The progress of a run. */
export interface BulkProgress extends BulkCounts {
  /** The number of items; for a stream, the option `total`. */
  readonly total: number | undefined;
  /** Items that have been begun and have not ended. */
  readonly underWay: number;
  /** Items under way that `resolveUnknown` is being asked about. */
  readonly resolving: number;
  /** Items per second that got through (`done` or `refused`) since the start of the run, without those that were skipped. */
  readonly ratePerSecond: number;
  /**
   * The time that the rest takes at this rate, in milliseconds, and no less than the present pause. `undefined` until an item
   * has got through in this run, or while `total` is not known.
   */
  readonly etaMs: number | undefined;
  /** Since the start of the run, in milliseconds. */
  readonly elapsedMs: number;
  /** The end of the present pause of the client's rate limit, if there is one. */
  readonly pausedUntil: Date | undefined;
}

export class Counts {
  readonly #counts = { done: 0, skipped: 0, refused: 0, not_sent: 0, unknown: 0 };
  #startedAt: number | undefined;
  #endedAt: number | undefined;

  start(): void {
    this.#startedAt = now();
  }

  end(): void {
    this.#endedAt = now();
  }

  add(state: BulkState, isSkipped: boolean): void {
    this.#counts[state] += 1;
    if (isSkipped) this.#counts.skipped += 1;
  }

  get summary(): BulkCounts {
    return { ...this.#counts };
  }

  pace(total: number | undefined, pauseMs: number): Pick<BulkProgress, "ratePerSecond" | "etaMs" | "elapsedMs"> {
    const elapsedMs = this.#startedAt === undefined ? 0 : (this.#endedAt ?? now()) - this.#startedAt;
    const { done, skipped, refused, not_sent, unknown } = this.#counts;
    const through = done - skipped + refused;
    const ratePerSecond = elapsedMs === 0 ? 0 : (through * 1_000) / elapsedMs;
    const left = total === undefined ? undefined : Math.max(0, total - done - refused - not_sent - unknown);
    if (left === undefined || ratePerSecond === 0) return { ratePerSecond, elapsedMs, etaMs: undefined };
    return { ratePerSecond, elapsedMs, etaMs: left === 0 ? 0 : Math.max(pauseMs, (left * 1_000) / ratePerSecond) };
  }
}
