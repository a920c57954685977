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
  /** Items per second that got through (`done` or `refused`) in the last half minute, without those that were skipped. */
  readonly ratePerSecond: number;
  /**
   * The time that the rest takes at this rate, in milliseconds, and no less than the present pause. `undefined` until an item
   * has got through in this run, while `total` is not known, or if nothing got through in the last half minute.
   */
  readonly etaMs: number | undefined;
  /** Since the start of the run, in milliseconds. */
  readonly elapsedMs: number;
  /** The end of the present pause of the client's rate limit, if there is one. */
  readonly pausedUntil: Date | undefined;
}

const SECONDS_OF_RATE = 30;

/** Counts the items of a run. */
export class Counts {
  readonly #counts = { done: 0, skipped: 0, refused: 0, not_sent: 0, unknown: 0 };
  /** Items that got through in each of the latest seconds, oldest first. */
  readonly #latest: { readonly second: number; through: number }[] = [];
  #hasThrough = false;
  #startedAt: number | undefined;
  #endedAt: number | undefined;

  start(): void {
    this.#startedAt = now();
  }

  end(): void {
    this.#endedAt = now();
  }

  /** Counts an item that has ended; `isEarlier`: so did an earlier run leave it. */
  add(state: BulkState, isEarlier: boolean): void {
    this.#counts[state] += 1;
    if (state === "done" && isEarlier) this.#counts.skipped += 1;
    if (!isEarlier && (state === "done" || state === "refused")) this.#note(Math.floor(now() / 1_000));
  }

  get summary(): BulkCounts {
    return { ...this.#counts };
  }

  /** `pauseMs`: the rest of the present pause. */
  pace(total: number | undefined, pauseMs: number): Pick<BulkProgress, "ratePerSecond" | "etaMs" | "elapsedMs"> {
    const at = this.#endedAt ?? now();
    const elapsedMs = this.#startedAt === undefined ? 0 : at - this.#startedAt;
    this.#forgetBefore(Math.floor(at / 1_000) - SECONDS_OF_RATE);
    const recent = this.#latest.reduce((sum, { through }) => sum + through, 0);
    const ratePerSecond = elapsedMs === 0 ? 0 : (recent * 1_000) / Math.min(elapsedMs, SECONDS_OF_RATE * 1_000);
    const { done, refused, not_sent, unknown } = this.#counts;
    const left = total === undefined ? undefined : Math.max(0, total - done - refused - not_sent - unknown);
    if (left === 0 && this.#hasThrough) return { ratePerSecond, elapsedMs, etaMs: 0 };
    const isKnown = left !== undefined && ratePerSecond > 0;
    return { ratePerSecond, elapsedMs, etaMs: isKnown ? Math.max(pauseMs, (left * 1_000) / ratePerSecond) : undefined };
  }

  #note(second: number): void {
    this.#hasThrough = true;
    const last = this.#latest.at(-1);
    if (last?.second === second) last.through += 1;
    else this.#latest.push({ second, through: 1 });
    this.#forgetBefore(second - SECONDS_OF_RATE);
  }

  #forgetBefore(second: number): void {
    while ((this.#latest[0]?.second ?? second) < second) this.#latest.shift();
  }
}
