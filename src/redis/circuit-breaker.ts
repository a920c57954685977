import { now } from "../core/time/clock.ts";
import type { DegradedEvent, FleetEvent } from "./events.ts";

/** From a failure until Redis is tried again; doubles up to the second. */
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 5_000;
/** A trial without an end is given up. */
const LONGEST_TRIAL_MS = 60_000;

export type Failure = Omit<DegradedEvent, "type">;

/**
 * Stops asking Redis after a failure, so that no call waits for it again until a trial has succeeded. Closed: Redis is
 * asked. Open: it is not, except for one trial at a time, less and less often. Has no timer.
 */
export class CircuitBreaker {
  readonly #emit: (event: FleetEvent) => void;
  #openSince: number | undefined;
  #retryAt = 0;
  #retryMs = FIRST_RETRY_MS;

  /** @param onEvent receives an event when the breaker opens and when it closes */
  constructor(onEvent: ((event: FleetEvent) => void) | undefined) {
    this.#emit = (event) => onEvent?.(event);
  }

  get isClosed(): boolean {
    return this.#openSince === undefined;
  }

  get mayTry(): boolean {
    return !this.isClosed && now() >= this.#retryAt;
  }

  open(failure: Failure): void {
    if (!this.isClosed) return;
    this.#openSince = now();
    this.#retryMs = FIRST_RETRY_MS;
    this.postpone();
    this.#emit({ type: "degraded", ...failure });
  }

  /** Begins a trial, which ends with `close` or `postpone`. A platform may drop it: then the next one begins. */
  beginTrial(): void {
    this.#retryAt = now() + LONGEST_TRIAL_MS;
  }

  /** It is not tried for a while: the trial has failed, or there was none yet. */
  postpone(): void {
    this.#retryAt = now() + this.#retryMs;
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
  }

  close(): void {
    if (this.#openSince === undefined) return;
    const afterMs = now() - this.#openSince;
    this.#openSince = undefined;
    this.#emit({ type: "rejoined", afterMs });
  }
}
