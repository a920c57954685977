import {
  arrayOf,
  functions,
  INVALID,
  listeners,
  oneOf,
  type Parsed,
  required,
  type Shape,
  SIGNAL,
  STRING,
  typed,
  validator,
} from "../core/checks/validators.ts";
import { isRecord } from "../core/checks/values.ts";
import { check, integer, TEXT, TEXTS } from "../emulator/checks.ts";
import type { EmulatorOptions } from "../emulator/options.ts";
import { type FaultKind, KIND_NAMES } from "./kinds.ts";

/** Options of `explore`. */
export interface ExploreOptions {
  /** Your program and its arguments. It is started anew for each start of each run. */
  readonly command: readonly string[];
  /** It runs in a copy of this folder, without `.git`; `node_modules` are linked. @default the working directory */
  readonly folder?: string | undefined;
  /** Makes what lies outside of the folder for each run, such as a database. Returns further variables of its environment. */
  readonly prepare?:
    | ((
        folder: string,
      ) => Readonly<Record<string, string>> | undefined | Promise<Readonly<Record<string, string>> | undefined>)
    | undefined;
  /** Files that it makes, by their paths in the folder, which are to be as without faults; `"-"` is its standard output. */
  readonly compare?: readonly string[] | undefined;
  /** The ways in which a request fails. @default all */
  readonly faults?: readonly FaultKind[] | undefined;
  /** Runs at once. @default twice the number of processors */
  readonly jobs?: number | undefined;
  /**
   * Milliseconds for an undisturbed start. A later start has five times the longest of them, and ten seconds and this at
   * least. @default 60_000, and ten seconds for a later start
   */
  readonly timeoutMs?: number | undefined;
  /** Options of the emulator of each run. @default no rate limit */
  readonly emulator?: EmulatorOptions | undefined;
  /** Ends the exploration, which rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each run with a fault. */
  readonly onProgress?: ((progress: ExplorationProgress) => void) | undefined;
}

/** The state of an exploration. */
export interface ExplorationProgress {
  /** The runs that are over. */
  readonly runs: number;
  /** All runs with a fault. */
  readonly planned: number;
  /** The runs in which something was found. */
  readonly wrong: number;
}

const KIND = oneOf(...KIND_NAMES);
const STRINGS = arrayOf(STRING, "a program and its arguments, as an array of strings");
const COMMAND = validator(STRINGS.words, (value) => {
  const words = STRINGS.parse(value);
  return words !== INVALID && words[0] ? words : INVALID;
});

const OPTIONS = {
  command: required(COMMAND),
  folder: TEXT,
  prepare: functions<NonNullable<ExploreOptions["prepare"]>>(),
  compare: TEXTS,
  faults: arrayOf(KIND, `an array of ${KIND_NAMES.join(", ")}`),
  jobs: integer(1, 1_000),
  timeoutMs: integer(1),
  emulator: typed("an object", (value): value is EmulatorOptions => isRecord(value)), // each emulator parses them
  signal: SIGNAL,
  onProgress: listeners<ExplorationProgress>(),
} satisfies Shape<ExploreOptions>;

/** The options of an exploration, parsed. */
export type ParsedExploreOptions = Parsed<typeof OPTIONS>;

/** Throws a `TypeError` for an option that is unknown, of the wrong type or out of range. */
export function parseExploreOptions(options: unknown): ParsedExploreOptions {
  return check.options(options, "options", OPTIONS);
}
