import { now } from "../client/time/clock.ts";
import type { BulkState } from "./journal.ts";

/** How many items ended in which state, whichever run found it. The states add up to the items that have ended. */
export interface BulkSummary {
  /** Written. */
  readonly done: number;
  /** Refused by the service, so not written. */
  readonly refused: number;
  /** Certainly not written; the next run sends them. */
  readonly not_sent: number;
  /** Perhaps written. */
  readonly unknown: number;
  /** Of these: `done` or `refused` in an earlier run, so not sent in this one. */
  readonly skipped: number;
}

/** How far a run has come. */
export interface BulkProgress extends BulkSummary {
  /** How many items there are; for a stream, the option `total`. */
  readonly total: number | undefined;
  /** How many items have been begun and have not ended. */
  readonly underWay: number;
  /** Of those under way: how many `resolveUnknown` is being asked about. */
  readonly resolving: number;
  /** How many items per second have ended in the last half minute, without those that were skipped. */
  readonly ratePerSecond: number;
  /**
   * How long the rest takes at this rate, in milliseconds, and no less than the present pause. `undefined` as long as
   * `total` is not known, or nothing has ended in the last half minute.
   */
  readonly etaMs: number | undefined;
  /** Since the start of the run, in milliseconds. */
  readonly elapsedMs: number;
  /** The end of the present pause of the rate limit, if there is one and the option `pausedUntil` was given. */
  readonly pausedUntil: Date | undefined;
}

const SECONDS_OF_RATE = 30;

/** Counts the items of a run. */
export class Counts {
  readonly #counts: Record<BulkState | "skipped", number> = {
    done: 0,
    refused: 0,
    not_sent: 0,
    unknown: 0,
    skipped: 0,
  };
  /** How many ended in each of the latest seconds, oldest first. */
  readonly #latest: { readonly second: number; ended: number }[] = [];
  #startedAt: number | undefined;
  #endedAt: number | undefined;

  start(): void {
    this.#startedAt = now();
  }

  end(): void {
    this.#endedAt = now();
  }

  add(state: BulkState, skipped: boolean): void {
    this.#counts[state] += 1;
    if (skipped) this.#counts.skipped += 1;
    else this.#note(Math.floor(now() / 1_000));
  }

  get summary(): BulkSummary {
    return { ...this.#counts };
  }

  /** `pauseMs`: what is left of the present pause. */
  pace(total: number | undefined, pauseMs: number): Pick<BulkProgress, "ratePerSecond" | "etaMs" | "elapsedMs"> {
    const at = this.#endedAt ?? now();
    const elapsedMs = this.#startedAt === undefined ? 0 : at - this.#startedAt;
    this.#forgetBefore(Math.floor(at / 1_000) - SECONDS_OF_RATE);
    const recent = this.#latest.reduce((sum, { ended }) => sum + ended, 0);
    const ratePerSecond = elapsedMs === 0 ? 0 : (recent * 1_000) / Math.min(elapsedMs, SECONDS_OF_RATE * 1_000);
    const { done, refused, not_sent, unknown } = this.#counts;
    const left = total === undefined ? undefined : Math.max(0, total - done - refused - not_sent - unknown);
    if (left === 0) return { ratePerSecond, elapsedMs, etaMs: 0 };
    const isKnown = left !== undefined && ratePerSecond > 0;
    return { ratePerSecond, elapsedMs, etaMs: isKnown ? Math.max(pauseMs, (left * 1_000) / ratePerSecond) : undefined };
  }

  #note(second: number): void {
    const last = this.#latest.at(-1);
    if (last?.second === second) last.ended += 1;
    else this.#latest.push({ second, ended: 1 });
    this.#forgetBefore(second - SECONDS_OF_RATE);
  }

  #forgetBefore(second: number): void {
    while ((this.#latest[0]?.second ?? second) < second) this.#latest.shift();
  }
}
