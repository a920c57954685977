import { now } from "../clock.ts";

/** A request without a response for this long no longer holds others back, except by `maxConcurrency`. In milliseconds. */
export const STALLED_AFTER_MS = 5_000;

/** What an admitted waiter does: it reads its token, or it has it and is sent. */
export type Stage = "reading" | "sending";

/** Which of the admitted count: all, or those that have their token and are sent. */
export type Counted = "admitted" | "sending";

/** What has a slot. */
interface Holder {
  /** When it was last admitted or confirmed. */
  startedAt: number;
}

/** The waiters that a gate has admitted. */
export class Slots<Waiter extends Holder> {
  #inFlight = 0;
  /** Those that are not stalled, in order of `startedAt`. */
  readonly #holding = new Set<Waiter>();
  /** Those of them that are without a token yet. It may turn out to be another gate's. */
  readonly #reading = new Set<Waiter>();

  /** How many are in flight, stalled ones included. */
  inFlight(counted: Counted): number {
    return this.#inFlight - this.#ignored(counted);
  }

  /** How many of them are not stalled. */
  holding(counted: Counted): number {
    return this.#holding.size - this.#ignored(counted);
  }

  /** The one that will stall first. */
  get oldest(): Waiter | undefined {
    const [oldest] = this.#holding;
    return oldest;
  }

  isReading(waiter: Waiter): boolean {
    return this.#reading.has(waiter);
  }

  /** Admits a waiter. */
  add(waiter: Waiter, as: Stage): void {
    this.#inFlight += 1;
    waiter.startedAt = now();
    this.#holding.add(waiter);
    if (as === "reading") this.#reading.add(waiter);
  }

  /** The waiter has its token, and its time begins anew. Returns whether it still held its slot. */
  beginSending(waiter: Waiter): boolean {
    this.#reading.delete(waiter);
    if (!this.#holding.delete(waiter)) return false;
    waiter.startedAt = now();
    this.#holding.add(waiter);
    return true;
  }

  remove(waiter: Waiter): void {
    this.#inFlight -= 1;
    this.#release(waiter);
  }

  /** Takes the stalled ones from those that hold others back, and calls `onDropped` for each. */
  dropStalled(onDropped: (waiter: Waiter) => void): void {
    for (const waiter of this.#holding) {
      if (now() - waiter.startedAt < STALLED_AFTER_MS) return;
      this.#release(waiter);
      onDropped(waiter);
    }
  }

  #release(waiter: Waiter): void {
    this.#holding.delete(waiter);
    this.#reading.delete(waiter);
  }

  #ignored(counted: Counted): number {
    return counted === "sending" ? this.#reading.size : 0;
  }
}
