import type { AutomationError } from "../client/index.ts";
import { limit, platformTurn } from "../core/time/clock.ts";

type Phase = "taking" | "stopping" | "aborting" | "given_up";

interface PhaseRules {
  readonly sends: boolean;
  readonly aborts: boolean;
  /** The run waits for functions of the application, and for the journal to be loaded. */
  readonly waits: boolean;
}

/** The phases in their order. A run never goes back to an earlier one. */
const PHASES: Readonly<Record<Phase, PhaseRules>> = {
  taking: { sends: true, aborts: false, waits: true },
  stopping: { sends: false, aborts: false, waits: true },
  aborting: { sends: false, aborts: true, waits: true },
  given_up: { sends: false, aborts: true, waits: false },
};
const ORDER = Object.keys(PHASES);

/** Turns of the platform for calls to end after they were aborted: a call of the client takes two or three. */
const TURNS_TO_END = 10;

/** The phase of one run. Everything that waits in the run asks it again at each change. */
export class RunPhase {
  cause: AutomationError | undefined;
  /** Why it has stopped, as a sentence. */
  why = "";
  readonly #changed: () => void;
  #phase: Phase = "taking";
  #cancelGrace: (() => void) | undefined;
  readonly #waits = new Set<() => void>();

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get sends(): boolean {
    return PHASES[this.#phase].sends;
  }

  get aborts(): boolean {
    return PHASES[this.#phase].aborts;
  }

  /**
   * Resolves as `work` does, or with `undefined` once the run waits no longer. A promise for the whole run would keep each
   * item that was raced against it.
   */
  async orGivenUp<Result>(work: Promise<Result>): Promise<Result | undefined> {
    let giveUp = (): void => {};
    const givenUp = new Promise<undefined>((resolve) => {
      giveUp = () => resolve(undefined);
    });
    if (!PHASES[this.#phase].waits) giveUp();
    this.#waits.add(giveUp);
    try {
      return await Promise.race([work, givenUp]);
    } finally {
      this.#waits.delete(giveUp);
    }
  }

  /** Begins no further item. Requests on their way continue. */
  stop(cause: AutomationError, why = `Stopped: ${cause.message}`): void {
    if (this.cause === undefined) {
      this.cause = cause;
      this.why = why;
    }
    this.#advance("stopping");
  }

  stopWithin(graceMs: number, cause: AutomationError): void {
    this.stop(cause);
    this.#cancelGrace ??= limit(graceMs, () => void this.#abort());
  }

  /** The run is over: no later phase follows. */
  release(): void {
    this.#cancelGrace?.();
  }

  async #abort(): Promise<void> {
    this.#advance("aborting");
    for (let turn = 0; turn < TURNS_TO_END; turn += 1) await platformTurn();
    this.#advance("given_up");
  }

  #advance(phase: Phase): void {
    if (ORDER.indexOf(phase) <= ORDER.indexOf(this.#phase)) return;
    this.#phase = phase;
    if (!PHASES[phase].waits) for (const giveUp of this.#waits) giveUp();
    this.#changed();
  }
}
