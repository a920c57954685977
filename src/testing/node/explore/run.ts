import { Client } from "../../../client/index.ts";
import { isPlainObject } from "../../../core/checks/values.ts";
import { check } from "../../checks.ts";
import { type ClientConnection, createEmulator, type Emulator } from "../../emulator.ts";
import type { EmulatorOptions } from "../../options.ts";
import type { RecordedRequest } from "../../request-log.ts";
import { type Disturbance, faultOf } from "./fault-kinds.ts";
import { platform } from "./own-time.ts";
import { type Bounds, type Outcome, platformIsQuiet, Start, type Traffic } from "./start.ts";
import { type Thing, worldOf } from "./world.ts";

/** The argument of a program, at each of its starts. */
export interface ProgramContext<Prepared> {
  /** A new client of the emulator. */
  readonly client: Client;
  /** `baseUrl`, `token` and `fetch`, to be spread into a `Client` of your own. */
  readonly clientOptions: ClientConnection;
  /** The value of `prepare`, the same at each start of a run. */
  readonly prepared: Prepared;
  /** Counts the starts of a run, from 1. */
  readonly start: number;
}

/** One start and the requests that it sent. */
export interface StartRecord {
  readonly outcome: Outcome;
  readonly requests: readonly RecordedRequest[];
}

/** The state after a start. */
export interface End {
  readonly world: readonly Thing[];
  /** The result of `compare`, as JSON; `undefined` if it was not called. */
  readonly compared: string | undefined;
  /** The value that `check` threw. */
  readonly failed: { readonly error: unknown } | undefined;
}

/** A run: the starts until one resolved, and one more. */
export interface RunRecord {
  readonly emulator: Emulator;
  readonly disturbances: readonly Disturbance[];
  /** True if every fault has hit a request. */
  readonly isReached: boolean;
  /** True if the service did the last request that a fault hit. */
  readonly applied: boolean;
  readonly starts: readonly StartRecord[];
  readonly end: End;
  readonly again: (StartRecord & { readonly end: End }) | undefined;
}

/** The part that all runs of an exploration share. */
export interface Setup<Prepared> {
  readonly program: (context: ProgramContext<Prepared>) => unknown;
  readonly prepare: () => Prepared | Promise<Prepared>;
  readonly dispose: (prepared: Prepared) => unknown;
  readonly compare: ((end: { prepared: Prepared; result: unknown }) => unknown) | undefined;
  readonly check: ((emulator: Emulator, starts: readonly StartRecord[]) => unknown) | undefined;
  readonly starts: number;
  readonly emulator: EmulatorOptions;
}

/** One run's part: its faults, and whether its requests are delayed into another order. */
export interface RunPlan extends Bounds {
  readonly disturbances: readonly Disturbance[];
  readonly isReordered: boolean;
}

/** Milliseconds by which requests are delayed in turn, so that those that run at once change places. */
const DELAYS_MS = [30, 20, 10];

/** Makes one run in a world of its own. */
export async function makeRun<Prepared>(setup: Setup<Prepared>, plan: RunPlan): Promise<RunRecord> {
  const begun: Start[] = [];
  const now = (): number => begun.at(-1)?.time.date() ?? platform.Date.now();
  const emulator = createEmulator({ now, ...setup.emulator, logLimit: Number.MAX_SAFE_INTEGER });
  const sessions = emulator.sessions.list();
  const active = plan.disturbances.map((disturbance) => ({
    disturbance,
    handle: emulator.fault(faultOf(disturbance)),
  }));
  const stopping = active.filter(({ disturbance }) => disturbance.fault === "stopped");
  let stops = 0;
  const traffic = {
    sent: 0,
    get isStopped(): boolean {
      return stopping.reduce((sum, { handle }) => sum + handle.hits, 0) > stops;
    },
  };
  const { signal } = plan;
  const prepared = await orAborted(setup.prepare(), signal);
  const runStart = async (number: number): Promise<StartRecord> => {
    for (const { id, state } of sessions)
      if (emulator.sessions.get(id) !== undefined) emulator.sessions.update(id, { state });
    const start = new Start(begun.at(-1)?.time.aheadMs ?? 0);
    begun.push(start);
    const sentBefore = emulator.requests.length;
    const fetch = createFetch(emulator, { start, traffic, isReordered: plan.isReordered });
    const clientOptions = { baseUrl: emulator.baseUrl, token: emulator.token, fetch };
    const program = (): unknown =>
      setup.program({ client: new Client(clientOptions), clientOptions, prepared, start: number });
    const outcome = await start.run(program, traffic, plan);
    // A process that stopped hears of nothing more, so its requests stay as they are.
    if (outcome.state === "stopped") stops += 1;
    else await start.abandon();
    for (const { disturbance, handle } of active)
      if (disturbance.fault === "outage" && handle.hits > 0) handle.remove();
    return { outcome, requests: emulator.requests.slice(sentBefore) };
  };
  const endOf = async (starts: readonly StartRecord[]): Promise<End> => {
    const world = worldOf(emulator);
    const outcome = starts.at(-1)?.outcome;
    const isCompared = outcome?.state === "resolved" && setup.compare !== undefined;
    const compare = (): unknown =>
      setup.compare?.({ prepared, result: outcome?.state === "resolved" && outcome.result });
    const compared = isCompared
      ? await orAborted(comparedBy(compare, plan.disturbances.length > 0), signal)
      : undefined;
    const failed = await orAborted(
      failureOf(() => setup.check?.(emulator, starts)),
      signal,
    );
    return { world, compared, failed };
  };
  try {
    const starts: StartRecord[] = [];
    while (starts.length < setup.starts) {
      const record = await runStart(starts.length + 1);
      starts.push(record);
      if (record.outcome.state === "resolved" || record.outcome.state === "hangs") break;
    }
    const end = await endOf(starts);
    const hit = emulator.requests.filter(({ faulty }) => faulty).at(-1);
    const isReached = active.every(({ handle }) => handle.hits > 0);
    for (const { handle } of active) handle.remove();
    const run = { emulator, disturbances: plan.disturbances, isReached, applied: hit?.applied === true, starts, end };
    if (starts.at(-1)?.outcome.state !== "resolved" || !isReached) return { ...run, again: undefined };
    const again = await runStart(starts.length + 1);
    return { ...run, again: { ...again, end: await endOf([...starts, again]) } };
  } finally {
    for (const start of begun) {
      await start.abandon();
      await start.closeFiles();
    }
    // What a start has left behind may still write to what is disposed of.
    if (begun.some(({ files }) => files.size > 0) || stops > 0) await platformIsQuiet();
    await orAborted(setup.dispose(prepared), signal);
  }
}

/** The result of `compare` in words. Undisturbed, it has to return; disturbed, it may miss what the program should have made. */
async function comparedBy(compare: () => unknown, mayThrow: boolean): Promise<string> {
  try {
    return `returned ${jsonOf(await compare())}`;
  } catch (error) {
    if (!mayThrow) throw error;
    return `threw ${String(error)}`;
  }
}

/** As JSON, with the members of each object in one order. */
function jsonOf(value: unknown): string {
  const sorted = (_: string, one: unknown): unknown =>
    isPlainObject(one) ? Object.fromEntries(Object.entries(one as object).sort(([a], [b]) => (a < b ? -1 : 1))) : one; // a plain object
  return JSON.stringify(JSON.parse(check.json(value, "the result of compare")), sorted);
}

/** Settles as `work` does, or rejects with the reason of the signal if that is aborted first. */
export function orAborted<Value>(work: Value | PromiseLike<Value>, signal: AbortSignal | undefined): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal?.reason);
    if (signal?.aborted) return abort();
    signal?.addEventListener("abort", abort, { once: true });
    void Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener("abort", abort));
  });
}

async function failureOf(check: () => unknown): Promise<End["failed"]> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return { error };
  }
}

interface Wire {
  readonly start: Start;
  readonly traffic: Traffic & { sent: number };
  readonly isReordered: boolean;
}

/** The emulator's `fetch` for one start: it counts, and rejects when the start has ended. */
function createFetch(emulator: Emulator, { start, traffic, isReordered }: Wire): typeof globalThis.fetch {
  const send = async (...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> => {
    const delayMs = DELAYS_MS[traffic.sent % DELAYS_MS.length];
    traffic.sent += 1;
    if (isReordered)
      await new Promise<void>((resolve) => start.time.set({ run: resolve, delayMs: delayMs ?? 0, repeats: false }));
    return emulator.fetch(input, init);
  };
  const fetch: typeof globalThis.fetch = (input, init) =>
    start.untilAbandoned(traffic.isStopped || start.hasEnded ? new Promise<never>(() => {}) : send(input, init));
  // What journals tell the worlds of emulators apart by.
  return Object.defineProperties(fetch, Object.getOwnPropertyDescriptors(emulator.fetch));
}
