import { parseArgs } from "node:util";
import { closestName } from "../core/checks/hints.ts";

interface Flag {
  /** The placeholder of its value in the help, such as `N`. A flag without one is on or off. */
  readonly value?: string;
  /** Its letter, behind one dash. */
  readonly short?: string;
  readonly multiple?: true;
  readonly about: string;
}

/** The flags of a command, by their names without the dashes, in the order of the help. */
export type Flags = Readonly<Record<string, Flag>>;

/** The values of a command line; a flag that it does not set is missing. */
export type Values<Given extends Flags> = {
  readonly [Name in keyof Given]?: Given[Name] extends { readonly multiple: true }
    ? readonly string[]
    : Given[Name] extends { readonly value: string }
      ? string
      : boolean;
};

/** The end of a command, with its exit code. The message tells the user why. */
export class CommandError extends Error {
  readonly status: number;
  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

export const USAGE = 2;

export class UsageError extends CommandError {
  constructor(message: string) {
    super(message, USAGE);
  }
}

/** A command line with `--`: this program's own words in front of it, and another program with its arguments behind it. */
interface SplitLine {
  readonly own: readonly string[];
  readonly program: readonly string[] | undefined;
}

/** Splits a command line at its first `--`. Throws a {@link UsageError} if nothing stands behind it. */
export function splitAtDashes(argv: readonly string[]): SplitLine {
  const dashes = argv.indexOf("--");
  if (dashes < 0) return { own: argv, program: undefined };
  const program = argv.slice(dashes + 1);
  if (!program[0]) throw new UsageError("no command stands behind --; write it there, as in: -- node app.mjs");
  return { own: argv.slice(0, dashes), program };
}

/**
 * Reads a command line. Throws a {@link UsageError} that names the flag and what is accepted; `others` is its message for
 * words that are no flags.
 */
export function parseFlags<Given extends Flags>(
  argv: readonly string[],
  flags: Given,
  others: string = "takes flags only, and no other words",
): Values<Given> {
  const options = Object.fromEntries(
    Object.entries<Flag>(flags).map(([name, { value, multiple = false, short }]) => {
      const type: "boolean" | "string" = value === undefined ? "boolean" : "string";
      return [name, { type, multiple, ...(short !== undefined && { short }) }];
    }),
  );
  const { values, tokens } = parseArgs({
    args: [...argv],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === "positional") throw new UsageError(`${others}; see --help`);
    if (token.kind === "option") checkFlag(flags, token);
  }
  return values as Values<Given>; // each was checked against its flag
}

interface GivenFlag {
  readonly name: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function checkFlag(flags: Flags, { name, value, inlineValue = false }: GivenFlag): void {
  const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
  if (flag === undefined) throw new UsageError(`unknown flag --${name}${suggestion(name, flags)}; see --help`);
  if (flag.value === undefined) {
    if (value !== undefined) throw new UsageError(`--${name} takes no value`);
  } else if (!value || (!inlineValue && /^-./.test(value))) {
    const other = value ? `, and ${JSON.stringify(value)} looks like a flag` : "";
    throw new UsageError(`--${name} needs a value${other}: --${name} ${flag.value}`);
  }
}

function suggestion(name: string, flags: Flags): string {
  const meant = closestName(name, Object.keys(flags));
  return meant === undefined ? "" : `; did you mean --${meant}?`;
}

export function helpOf(flags: Flags): string {
  const rows = Object.entries(flags).map(([name, { value, about, short }]) => ({
    shown: [`--${name}`, value, short && `(-${short})`].filter(Boolean).join(" "),
    about,
  }));
  const width = Math.max(...rows.map(({ shown }) => shown.length));
  return rows.map(({ shown, about }) => `  ${shown.padEnd(width)}  ${about}\n`).join("");
}

export function parseCount(
  flag: string,
  value: string | undefined,
  [least, most]: readonly [number, number],
): number | undefined {
  if (value === undefined) return undefined;
  const count = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (count >= least && count <= most) return count;
  throw new UsageError(`--${flag} must be a whole number from ${least} to ${most}, not "${value}"`);
}
