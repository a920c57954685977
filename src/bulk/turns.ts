import { now, platformTurn } from "../core/time/clock.ts";

const KEPT_MS = 5;

/** Gives the platform a turn every few milliseconds, for timers, signals and other work of the process. */
export class Turns {
  #since = now();

  get isDue(): boolean {
    return now() - this.#since >= KEPT_MS;
  }

  async take(): Promise<void> {
    await platformTurn();
    this.#since = now();
  }
}
