import type { Client } from "../../../client/index.ts";
import {
  FUNCTION,
  LISTENER,
  type ObjectSchema,
  oneOf,
  type Present,
  RECORD,
  required,
  SIGNAL,
  type Validator,
} from "../../../core/checks/validators.ts";
import { check, integer } from "../../checks.ts";
import type { ClientConnection, Emulator } from "../../emulator.ts";
import type { EmulatorOptions } from "../../options.ts";
import { type FaultKind, KINDS } from "./fault-kinds.ts";

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

/** The end of a run, for `check`. */
export interface ExploredEnd {
  /** The service as the program left it. */
  readonly emulator: Emulator;
  /** The service as the undisturbed program left it; in the undisturbed runs, the same as `emulator`. */
  readonly undisturbed: Emulator;
  /** The starts of the program, in order. */
  readonly starts: readonly ExploredStart[];
}

/** One start of a program. */
export interface ExploredStart {
  /** Its end. */
  readonly state: "resolved" | "rejected" | "hangs" | "stopped";
}

/** Options of `exploreFaults`. */
export interface ExploreOptions<Prepared = undefined> {
  /** Your program. It is called anew for each start of each run. */
  readonly program: (context: ProgramContext<Prepared>) => unknown;
  /** It is started until it resolves, so many times at most. @default 3 */
  readonly starts?: number | undefined;
  /** The ways in which a request fails. @default all but "rate_limit" and "stopped" */
  readonly faults?: readonly FaultKind[] | undefined;
  /** Makes what outlasts a start, such as a folder or a database, anew for each run. */
  readonly prepare?: (() => Prepared | Promise<Prepared>) | undefined;
  /** Removes what `prepare` made. */
  readonly dispose?: ((prepared: Prepared) => void | Promise<void>) | undefined;
  /**
   * Returns what the program made outside of the service. It is compared as JSON, in runs that resolved. After a fault,
   * what it throws is a finding.
   */
  readonly compare?: ((end: { readonly prepared: Prepared; readonly result: unknown }) => unknown) | undefined;
  /** Takes the place of the comparison: what it throws is a finding. */
  readonly check?: ((end: ExploredEnd) => void | Promise<void>) | undefined;
  /** Faults in one run. @default 1 */
  readonly depth?: 1 | 2 | undefined;
  /** With `depth: 2`: the most runs with two faults. @default 200 */
  readonly maxRuns?: number | undefined;
  /** With `depth: 2`: chooses the sample. @default 1 */
  readonly seed?: number | undefined;
  /** Options of the emulator. */
  readonly emulator?: EmulatorOptions | undefined;
  /** Ends the exploration, which rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each run with a fault. */
  readonly onProgress?: ((progress: { readonly runs: number; readonly planned: number }) => void) | undefined;
}

const KIND_NAMES = Object.keys(KINDS);
const KIND = oneOf(...KIND_NAMES);
const FAULTS: Validator = {
  words: `an array with one or several of ${KIND_NAMES.join(", ")}`,
  accepts: (value) => Array.isArray(value) && value.length > 0 && value.every(KIND.accepts),
  hint: (value) => {
    const wrong: unknown = Array.isArray(value) ? value.find((one) => !KIND.accepts(one)) : undefined;
    return typeof wrong === "string" ? `: "${wrong.slice(0, 40)}" is none` : undefined;
  },
};

/** Throws a `TypeError` for an option that is unknown, of the wrong type or out of range. */
export function checkOptions<Prepared>(options: ExploreOptions<Prepared>): Present<ExploreOptions<Prepared>> {
  const shape: ObjectSchema<ExploreOptions<Prepared>> = {
    program: required(FUNCTION),
    starts: integer(1, 100),
    faults: FAULTS,
    prepare: FUNCTION,
    dispose: FUNCTION,
    compare: FUNCTION,
    check: FUNCTION,
    depth: oneOf(1, 2),
    maxRuns: integer(1),
    seed: integer(0),
    emulator: RECORD,
    signal: SIGNAL,
    onProgress: LISTENER,
  };
  const given = check.options(options, "options", shape);
  if (given.depth !== 2 && (given.maxRuns !== undefined || given.seed !== undefined))
    check.fail("options.maxRuns and options.seed need options.depth: 2");
  if (given.check !== undefined && given.compare !== undefined)
    check.fail("options.check takes the place of options.compare: pass one of them");
  return given;
}
