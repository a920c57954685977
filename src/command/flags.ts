import { parseArgs } from "node:util";
import { closestName } from "../client/checks/hints.ts";

/** A flag of a command. */
export interface Flag {
  /** The placeholder of its value in the help, such as `N`. A flag without one is on or off. */
  readonly value?: string;
  /** Its letter, behind one dash. */
  readonly short?: string;
  /** It may be repeated. */
  readonly multiple?: true;
  /** The effect, as a line of the help. */
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

/** A command line with a mistake. Its message tells the user which. */
export class UsageError extends Error {}

/** Reads a command line. Throws a {@link UsageError} that names the flag and what is accepted. */
export function readFlags<Given extends Flags>(argv: readonly string[], flags: Given): Values<Given> {
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
    if (token.kind === "positional") throw new UsageError("takes flags only, and no other words; see --help");
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
  } else if (!value || (!inlineValue && value.startsWith("-"))) {
    throw new UsageError(`--${name} needs a value: --${name} ${flag.value}`);
  }
}

function suggestion(name: string, flags: Flags): string {
  const meant = closestName(name, Object.keys(flags));
  return meant === undefined ? "" : `; did you mean --${meant}?`;
}

/** The lines of the help about flags. */
export function helpOf(flags: Flags): string {
  const rows = Object.entries(flags).map(([name, { value, about, short }]) => ({
    shown: [`--${name}`, value, short && `(-${short})`].filter(Boolean).join(" "),
    about,
  }));
  const width = Math.max(...rows.map(({ shown }) => shown.length));
  return rows.map(({ shown, about }) => `  ${shown.padEnd(width)}  ${about}\n`).join("");
}

/** A whole number within bounds. */
export function readCount(
  flag: string,
  value: string | undefined,
  [least, most]: readonly [number, number],
): number | undefined {
  if (value === undefined) return undefined;
  const count = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (count >= least && count <= most) return count;
  throw new UsageError(`--${flag} must be a whole number from ${least} to ${most}, not "${value}"`);
}
