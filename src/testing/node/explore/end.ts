import { isPlainObject } from "../../../core/checks/values.ts";
import { check } from "../../checks.ts";
import type { Emulator } from "../../emulator.ts";
import type { ExploreOptions } from "./options.ts";
import { orAborted } from "./or-aborted.ts";
import type { RunPlan, StartRecord } from "./starts.ts";
import { type Thing, worldOf } from "./world.ts";

/** The state after a start. */
export interface End {
  readonly world: readonly Thing[];
  /** The result of `compare`, as JSON; `undefined` if it was not called. */
  readonly compared: string | undefined;
  /** The value that `check` threw. */
  readonly failed: { readonly error: unknown } | undefined;
}

/** The parts of an exploration that look at an end. */
export interface Looks<Prepared> extends Pick<ExploreOptions<Prepared>, "compare" | "check"> {
  /** The service as the undisturbed program left it, once that is known. */
  readonly undisturbed?: Emulator | undefined;
}

/** A run as it stands after its latest start. */
export interface Ended<Prepared> {
  readonly emulator: Emulator;
  readonly prepared: Prepared;
  readonly starts: readonly StartRecord[];
  readonly plan: RunPlan;
}

/** Looks at the service, and has `compare` and `check` look. */
export async function endOf<Prepared>(
  { compare, check, undisturbed }: Looks<Prepared>,
  { emulator, prepared, starts, plan: { disturbances, signal } }: Ended<Prepared>,
): Promise<End> {
  const world = worldOf(emulator);
  const outcome = starts.at(-1)?.outcome;
  const compared =
    compare !== undefined && outcome?.state === "resolved"
      ? await orAborted(
          comparedBy(() => compare({ prepared, result: outcome.result }), disturbances.length > 0),
          signal,
        )
      : undefined;
  const states = starts.map(({ outcome: { state } }) => ({ state }));
  const end = { emulator, undisturbed: undisturbed ?? emulator, starts: states };
  return {
    world,
    compared,
    failed: await orAborted(
      failureOf(() => check?.(end)),
      signal,
    ),
  };
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

async function failureOf(check: () => unknown): Promise<End["failed"]> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return { error };
  }
}
