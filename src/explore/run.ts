import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { now, platformTurn } from "../core/time/clock.ts";
import { isWrite } from "../core/wire/method.ts";
import type { FaultHandle } from "../emulator/faults.ts";
import type { RunningEmulator } from "../emulator/node/running-emulator.ts";
import { startServer } from "../emulator/node/start.ts";
import { variablesOf, withoutProxy } from "../emulator/node/variables.ts";
import type { RecordedRequest } from "../emulator/request-log.ts";
import type { EmulatorSession } from "../emulator/tables.ts";
import type { Copies, Copy } from "./folder.ts";
import { type Disturbance, faultOf, KINDS } from "./kinds.ts";
import type { ExploreOptions, ParsedExploreOptions } from "./options.ts";
import { type End, isDone, type Outcome, type RunRecord, type StartRecord } from "./run-record.ts";
import { runStart } from "./start.ts";
import { type Thing, thingsOf } from "./world.ts";

export interface Setup {
  readonly options: ParsedExploreOptions;
  readonly copies: Copies;
  readonly signal: AbortSignal;
}

export interface Echo {
  readonly text: (text: string) => void;
  readonly request: (request: RecordedRequest) => void;
  readonly started: () => void;
  readonly ended: (outcome: Outcome) => void;
  readonly left: (things: readonly Thing[]) => void;
}

interface RunPlan {
  readonly limitMs: number;
  readonly disturbance?: Disturbance | undefined;
  /** Requests arrive late in turn, so that those which are sent at once change places. */
  readonly isReordered?: boolean;
  readonly echo?: Echo | undefined;
}

const DELAYS_MS = [30, 20, 10];

export async function makeRun(setup: Setup, plan: RunPlan): Promise<RunRecord> {
  const { options, copies, signal } = setup;
  signal.throwIfAborted();
  const copy = await copies.make();
  try {
    let arrived = 0;
    const { running } = await startServer(
      { rateLimit: false, ...options.emulator, logLimit: Infinity, onRequest: plan.echo?.request },
      plan.isReordered ? { lateness: () => DELAYS_MS[arrived++ % DELAYS_MS.length] ?? 0 } : {},
    );
    try {
      const prepared = await untilAborted(options.prepare?.(copy.folder), signal);
      return await new Run({ setup, plan, copy, running, prepared }).make();
    } finally {
      await running.close();
    }
  } finally {
    await copy.remove();
  }
}

type Prepared = ReturnType<NonNullable<ExploreOptions["prepare"]>> | undefined;

/** Waits for what a user's function returned, which may take for ever. */
async function untilAborted(given: Prepared, signal: AbortSignal) {
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
  });
  signal.addEventListener("abort", abort);
  try {
    signal.throwIfAborted();
    return await Promise.race([given, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

interface Parts {
  readonly setup: Setup;
  readonly plan: RunPlan;
  readonly copy: Copy;
  readonly running: RunningEmulator;
  readonly prepared: Awaited<Prepared>;
}

const MOST_STARTS = 3;

class Run {
  readonly #parts: Parts;
  #kill = new AbortController();
  #out = "";
  readonly #fault: FaultHandle | undefined;
  readonly #sessions: readonly EmulatorSession[];

  constructor(parts: Parts) {
    const { plan, running } = parts;
    const { disturbance } = plan;
    this.#parts = parts;
    this.#fault = disturbance && running.emulator.fault(faultOf(disturbance, () => this.#onHit(disturbance)));
    this.#sessions = running.emulator.sessions.list();
  }

  get #isReached(): boolean {
    return this.#fault !== undefined && this.#fault.hits > 0;
  }

  async make(): Promise<RunRecord> {
    const { plan, running } = this.#parts;
    const first = await this.#startUntilDone();
    const again = isDone(first.starts) ? await this.#startUntilDone() : undefined;
    plan.echo?.left((again ?? first).things);
    return { hit: running.emulator.requests.find(({ faulty }) => faulty), first, again };
  }

  /** The service does it, or not, in this turn; the program is killed in the next. */
  #onHit({ fault }: Disturbance): void {
    const kill = this.#kill;
    if (KINDS[fault].kills) void platformTurn().then(() => kill.abort());
  }

  async #startUntilDone(): Promise<End> {
    const { copy, running } = this.#parts;
    const starts: StartRecord[] = [];
    let state: string | undefined;
    for (;;) {
      const start = await this.#start();
      starts.push(start);
      if (isDone(starts) || start.outcome.state === "hangs" || starts.length === MOST_STARTS) break;
      const before = state;
      state = await copy.look();
      if (state === before && !hasChanged(start)) break;
    }
    const files = isDone(starts) ? await this.#files() : [];
    return { starts, things: [...thingsOf(running.emulator), ...files] };
  }

  async #start(): Promise<StartRecord> {
    const { setup, plan, copy, running, prepared } = this.#parts;
    const { options, signal } = setup;
    const { emulator } = running;
    signal.throwIfAborted();
    // The service is back when the program is started again.
    if (this.#isReached) this.#fault?.remove();
    // Time that has passed is no fault of the program.
    for (const { id, state } of this.#sessions)
      if (emulator.sessions.get(id) !== undefined) emulator.sessions.update(id, { state });
    this.#kill = new AbortController();
    const { temporary } = copy;
    const env = {
      ...process.env,
      ...withoutProxy(process.env),
      ...{ PWD: copy.folder, TMPDIR: temporary, TEMP: temporary, TMP: temporary },
      ...prepared,
      ...variablesOf(running),
    };
    const sentBefore = emulator.requests.length;
    const beganAt = now();
    plan.echo?.started();
    const { outcome, out } = await runStart(options.command.map(copy.inCopy), {
      cwd: copy.folder,
      env,
      limitMs: plan.limitMs,
      kill: AbortSignal.any([signal, this.#kill.signal]),
      show: plan.echo?.text,
    });
    signal.throwIfAborted();
    plan.echo?.ended(outcome);
    this.#out = out;
    return { outcome, requests: emulator.requests.slice(sentBefore), ms: now() - beganAt };
  }

  async #files(): Promise<Thing[]> {
    const { setup, copy } = this.#parts;
    const { compare = [] } = setup.options;
    const found = await Promise.all(
      compare.map(async (name): Promise<readonly Thing[]> => {
        if (name === "-") return [{ kind: "file standard output", fields: { text: this.#out } }];
        const text = await readFile(join(copy.folder, name), "utf8").catch(() => undefined);
        return text === undefined ? [] : [{ kind: `file ${name}`, fields: { text } }];
      }),
    );
    return found.flat();
  }
}

/** True if the fault has hit the start, or the service has changed. */
function hasChanged({ requests }: StartRecord): boolean {
  return requests.some(({ faulty, applied, method }) => faulty || (applied && isWrite(method)));
}
