import { createEmulator, type Emulator } from "../../emulator.ts";
import type { FaultHandle } from "../../faults.ts";
import { forgetTokens } from "../../forget-tokens.ts";
import type { EmulatorOptions } from "../../options.ts";
import type { RecordedRequest } from "../../request-log.ts";
import type { EmulatorSession } from "../../tables.ts";
import { type Disturbance, faultOf } from "./fault-kinds.ts";
import { platform } from "./own-time.ts";
import { type Bounds, type Outcome, platformIsQuiet, Start, type Traffic } from "./start.ts";

/** One start and the requests that it sent. */
export interface StartRecord {
  readonly outcome: Outcome;
  readonly requests: readonly RecordedRequest[];
}

/** One run's part: its faults, and whether its requests are delayed into another order. */
export interface RunPlan extends Bounds {
  readonly disturbances: readonly Disturbance[];
  readonly isReordered: boolean;
}

/** Milliseconds by which requests are delayed in turn, so that those that run at once change places. */
const DELAYS_MS = [30, 20, 10];

/** The starts of one run, one after another, against one emulator with the faults of the plan. */
export class Starts implements Traffic {
  readonly emulator: Emulator;
  readonly #plan: RunPlan;
  readonly #active: readonly { readonly disturbance: Disturbance; readonly handle: FaultHandle }[];
  readonly #sessions: readonly EmulatorSession[];
  readonly #begun: Start[] = [];
  #sent = 0;
  #stops = 0;

  constructor(options: EmulatorOptions, plan: RunPlan) {
    this.#plan = plan;
    const now = (): number => this.#begun.at(-1)?.time.date() ?? platform.Date.now();
    this.emulator = createEmulator({ now, ...options, logLimit: Number.MAX_SAFE_INTEGER });
    this.#sessions = this.emulator.sessions.list();
    this.#active = plan.disturbances.map((disturbance) => ({
      disturbance,
      handle: this.emulator.fault(faultOf(disturbance)),
    }));
  }

  get sent(): number {
    return this.#sent;
  }

  get isStopped(): boolean {
    const stopping = this.#active.filter(({ disturbance }) => disturbance.fault === "stopped");
    return stopping.reduce((sum, { handle }) => sum + handle.hits, 0) > this.#stops;
  }

  /** True if every fault has hit a request. */
  get isReached(): boolean {
    return this.#active.every(({ handle }) => handle.hits > 0);
  }

  /** Starts the program once more, and waits for its end. */
  async run(program: (fetch: typeof globalThis.fetch) => unknown): Promise<StartRecord> {
    for (const { id, state } of this.#sessions)
      if (this.emulator.sessions.get(id) !== undefined) this.emulator.sessions.update(id, { state });
    const start = new Start(this.#begun.at(-1)?.time.aheadMs ?? 0);
    this.#begun.push(start);
    const sentBefore = this.emulator.requests.length;
    forgetTokens();
    const fetch = this.#fetchOf(start);
    const outcome = await start.run(() => program(fetch), this, this.#plan);
    // A process that stopped hears of nothing more, so its requests stay as they are.
    if (outcome.state === "stopped") this.#stops += 1;
    else await start.abandon();
    for (const { disturbance, handle } of this.#active)
      if (disturbance.fault === "outage" && handle.hits > 0) handle.remove();
    return { outcome, requests: this.emulator.requests.slice(sentBefore) };
  }

  /** Removes the faults that are left. */
  removeFaults(): void {
    for (const { handle } of this.#active) handle.remove();
  }

  /** Ends all starts, as the end of their processes does. */
  async close(): Promise<void> {
    for (const start of this.#begun) {
      await start.abandon();
      await start.closeFiles();
    }
    // A write that a start has left behind may still reach a file that is disposed of.
    if (this.#begun.some(({ files }) => files.size > 0) || this.#stops > 0) await platformIsQuiet();
  }

  /** The emulator's `fetch` for one start: it counts, and rejects when the start has ended. */
  #fetchOf(start: Start): typeof globalThis.fetch {
    const { emulator } = this;
    const send = async (...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> => {
      const delayMs = DELAYS_MS[this.#sent % DELAYS_MS.length];
      this.#sent += 1;
      if (this.#plan.isReordered)
        await new Promise<void>((resolve) => start.time.set({ run: resolve, delayMs: delayMs ?? 0, repeats: false }));
      return emulator.fetch(input, init);
    };
    const fetch: typeof globalThis.fetch = (input, init) =>
      start.untilAbandoned(this.isStopped || start.hasEnded ? new Promise<never>(() => {}) : send(input, init));
    // Journals tell the worlds of emulators apart by these properties.
    return Object.defineProperties(fetch, Object.getOwnPropertyDescriptors(emulator.fetch));
  }
}
