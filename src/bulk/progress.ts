import { now } from "../clock.ts";
import type { BulkState } from "./journal.ts";

/** How many items ended in which way. Each item is counted once. */
export interface BulkSummary {
  /** Written in this run. */
  readonly done: number;
  /** Refused in this run. */
  readonly refused: number;
  /** Certainly not written; the next run sends them. */
  readonly not_sent: number;
  /** Perhaps written. */
  readonly unknown: number;
  /** `done` or `refused` in an earlier run, so not sent in this one. */
  readonly skipped: number;
}

/** How far a run has come. */
export interface BulkProgress extends BulkSummary {
  /** How many items there are; `undefined` for a stream. */
  readonly total: number | undefined;
  /** How many items have been begun and have not ended. */
  readonly underWay: number;
  /** How many items per second were written or refused, on average since the start of the run. */
  readonly ratePerSecond: number;
  /** Since the start of the run, in milliseconds. */
  readonly elapsedMs: number;
  /** The end of the present pause of the rate limit, if there is one and the option `pausedUntil` was given. */
  readonly pausedUntil: Date | undefined;
}

/** Counts the items of a run. */
export class Counts {
  readonly #counts: Record<BulkState | "skipped", number> = {
    done: 0,
    refused: 0,
    not_sent: 0,
    unknown: 0,
    skipped: 0,
  };
  #startedAt: number | undefined;
  #endedAt: number | undefined;

  start(): void {
    this.#startedAt = now();
  }

  end(): void {
    this.#endedAt = now();
  }

  add(state: BulkState | "skipped"): void {
    this.#counts[state] += 1;
  }

  get summary(): BulkSummary {
    return { ...this.#counts };
  }

  get pace(): Pick<BulkProgress, "ratePerSecond" | "elapsedMs"> {
    const elapsedMs = this.#startedAt === undefined ? 0 : (this.#endedAt ?? now()) - this.#startedAt;
    const { done, refused } = this.#counts;
    return { elapsedMs, ratePerSecond: elapsedMs > 0 ? ((done + refused) * 1_000) / elapsedMs : 0 };
  }
}
