import { ignoreErrors } from "../base/check.ts";
import { now } from "../base/clock.ts";
import type { DegradedEvent, FleetEvent } from "./events.ts";

/** From a failure until Redis is tried again; doubles up to the second. */
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 5_000;

/** What went wrong. */
export type Failure = Omit<DegradedEvent, "type" | "scope">;

/**
 * Stops asking Redis after a failure, so that no call waits for it again until a trial has succeeded. Closed: Redis is
 * asked. Open: it is not, except for one trial at a time, less and less often. Has no timer.
 */
export class CircuitBreaker {
  readonly #onEvent: ((event: FleetEvent) => void) | undefined;
  readonly #scope: { readonly scope?: "token" };
  #openSince: number | undefined;
  #retryAt = 0;
  #retryMs = FIRST_RETRY_MS;
  #isTrying = false;

  /**
   * @param onEvent receives an event when the breaker opens and when it closes
   * @param scope what the breaker is for: one token, or all of them
   */
  constructor(onEvent: ((event: FleetEvent) => void) | undefined, scope: "token" | "all") {
    this.#onEvent = onEvent;
    this.#scope = scope === "token" ? { scope } : {};
  }

  get isClosed(): boolean {
    return this.#openSince === undefined;
  }

  /** Whether it is open, and it is time for a trial. */
  get mayTry(): boolean {
    return !this.isClosed && !this.#isTrying && now() >= this.#retryAt;
  }

  /** A command has failed. */
  open(failure: Failure): void {
    if (!this.isClosed) return;
    this.#openSince = now();
    this.#retryMs = FIRST_RETRY_MS;
    this.#retryAt = now() + this.#retryMs;
    this.#emit({ type: "degraded", ...failure, ...this.#scope });
  }

  /** Begins a trial, which ends with `close` or `postpone`. */
  beginTrial(): void {
    this.#isTrying = true;
  }

  /** The trial has failed. */
  postpone(): void {
    this.#isTrying = false;
    this.#retryAt = now() + this.#retryMs;
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
  }

  /** A command has succeeded in time. */
  close(): void {
    this.#isTrying = false;
    if (this.#openSince === undefined) return;
    const afterMs = now() - this.#openSince;
    this.#openSince = undefined;
    this.#emit({ type: "rejoined", afterMs, ...this.#scope });
  }

  #emit(event: FleetEvent): void {
    ignoreErrors(() => this.#onEvent?.(event));
  }
}
