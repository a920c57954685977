import type { AutomationError } from "../client/index.ts";
import { mayPass } from "../core/call/decide-retry.ts";
import { after } from "../core/time/clock.ts";
import { afterItem, type FailureCount, isAnswer, NO_FAILURES, type Sent } from "./failure-count.ts";
import type { BulkSettings } from "./options.ts";
import type { RunPhase } from "./phase.ts";

type GateSettings = Pick<BulkSettings<never, never>, "client" | "rules" | "concurrency" | "stopAfter">;

/** Decides when the next item of a run may be sent: after the wait for a failure, and once the service has answered a read. */
export class ItemGate {
  readonly #settings: GateSettings;
  readonly #phase: RunPhase;
  readonly #changed: () => void;
  #failures: FailureCount = NO_FAILURES;
  #cancelBackoff: (() => void) | undefined;
  /** `"in_doubt"` at first, and after a write that ended `unknown`: the next one may be lost. */
  #service: "in_doubt" | "asked" | "answered" = "in_doubt";
  readonly #stopped = new AbortController();

  /** @param changed is called when a waiting item has to ask again */
  constructor(settings: GateSettings, phase: RunPhase, changed: () => void) {
    this.#settings = settings;
    this.#phase = phase;
    this.#changed = changed;
  }

  get counted(): number {
    return this.#failures.counted;
  }

  admits(underWay: number): boolean {
    if (underWay >= this.#failures.width || this.#cancelBackoff !== undefined) return false;
    if (this.#service === "in_doubt") void this.#ask();
    return this.#service === "answered";
  }

  doubt(): void {
    if (this.#service === "answered") this.#service = "in_doubt";
  }

  count(sent: Sent): void {
    if (!this.#phase.sends) return;
    const { rules, concurrency, stopAfter } = this.#settings;
    const before = this.#failures;
    this.#failures = afterItem(before, sent, { rules, concurrency, stopAfter, random: Math.random() });
    if (sent.failure !== undefined && this.#failures !== before) this.#hold(sent.failure);
    this.#changed();
  }

  stop(): void {
    this.#cancelBackoff?.();
    this.#stopped.abort(this.#phase.cause);
  }

  /** Asks the service by a read, which can be lost without harm: one for all items that wait. */
  async #ask(): Promise<void> {
    this.#service = "asked";
    try {
      await this.#settings.client.projects.list({ limit: 1 }, { signal: this.#stopped.signal }).page();
      this.#service = "answered";
    } catch (thrown) {
      const failure = thrown as AutomationError; // a call rejects with no other
      this.#service = isAnswer(failure) ? "answered" : "in_doubt";
      if (this.#service === "answered" || !this.#phase.sends) return;
      if (mayPass(failure)) this.count({ failure, countedBefore: this.counted });
      else this.#phase.stop(failure, afterFailures(this.counted + 1, failure));
    } finally {
      this.#changed();
    }
  }

  #hold(failure: AutomationError): void {
    const { failures, delayMs, isOver } = this.#failures;
    if (isOver) {
      this.#phase.stop(failure, afterFailures(failures, failure));
    } else if (delayMs > 0) {
      this.#cancelBackoff?.();
      this.#cancelBackoff = after(delayMs, () => {
        this.#cancelBackoff = undefined;
        this.#changed();
      });
    }
  }
}

function afterFailures(failures: number, last: AutomationError): string {
  const count = failures === 1 ? "1 failure" : `${failures} failures (ten items that get through take back one)`;
  return `Stopped after ${count}; the last one: ${last.message}`;
}
