import { Client } from "../../../client/index.ts";
import type { Emulator } from "../../emulator.ts";
import type { EmulatorOptions } from "../../options.ts";
import { type End, endOf, type Looks } from "./end.ts";
import type { Disturbance } from "./fault-kinds.ts";
import type { ExploreOptions } from "./options.ts";
import { orAborted } from "./or-aborted.ts";
import { type RunPlan, type StartRecord, Starts } from "./starts.ts";

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
export interface Setup<Prepared> extends Looks<Prepared> {
  readonly program: ExploreOptions<Prepared>["program"];
  readonly prepare: () => Prepared | Promise<Prepared>;
  readonly dispose: (prepared: Prepared) => unknown;
  readonly starts: number;
  readonly emulator: EmulatorOptions;
}

/** Makes one run in a world of its own. */
export async function makeRun<Prepared>(setup: Setup<Prepared>, plan: RunPlan): Promise<RunRecord> {
  const { disturbances, signal } = plan;
  const starts = new Starts(setup.emulator, plan);
  const { emulator } = starts;
  const prepared = await orAborted(setup.prepare(), signal);
  const records: StartRecord[] = [];
  const startOnce = async (): Promise<StartRecord> => {
    const start = records.length + 1;
    const record = await starts.run((fetch) => {
      const clientOptions = { baseUrl: emulator.baseUrl, token: emulator.token, fetch };
      return setup.program({ client: new Client(clientOptions), clientOptions, prepared, start });
    });
    records.push(record);
    return record;
  };
  const look = (): Promise<End> => endOf(setup, { emulator, prepared, starts: records, plan });
  try {
    let state: StartRecord["outcome"]["state"] | undefined;
    while (records.length < setup.starts && state !== "resolved" && state !== "hangs")
      state = (await startOnce()).outcome.state;
    const end = await look();
    const hit = emulator.requests.filter(({ faulty }) => faulty).at(-1);
    const { isReached } = starts;
    const run = { emulator, disturbances, isReached, applied: hit?.applied === true, starts: [...records], end };
    starts.removeFaults();
    if (state !== "resolved" || !isReached) return { ...run, again: undefined };
    const again = await startOnce();
    return { ...run, again: { ...again, end: await look() } };
  } finally {
    await starts.close();
    await orAborted(setup.dispose(prepared), signal);
  }
}
