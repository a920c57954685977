import { VARIABLES, withEnvironment } from "../client/environment.ts";
import { VERSION } from "../client/version.ts";
import { InvalidInput } from "../core/checks/invalid-input.ts";
import { isError } from "../core/checks/values.ts";
import { ConfigError } from "../core/errors/classes.ts";
import { Redactor } from "../core/secrets/redact.ts";
import { problemOfToken } from "../core/token/token-format.ts";
import { isSafeTransport, parseService } from "../core/wire/service.ts";
import {
  CommandError,
  type Flags,
  helpOf,
  parseFlags,
  splitAtDashes,
  USAGE,
  UsageError,
  type Values,
} from "./flags.ts";

/** The process around a command, as far as the command needs it. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly columns: number;
  readonly colour: Readonly<Record<"out" | "err", boolean>>;
  /** Aborted when the user wants the command to end. */
  readonly signal: AbortSignal;
  /**
   * Runs another program in this terminal, with further variables. Resolves with its exit code: 128 + n after signal n.
   * Rejects with a {@link CommandError} if it cannot be started.
   */
  readonly runProgram: (words: readonly string[], variables: Readonly<Record<string, string>>) => Promise<number>;
  /** Opens an address in the user's browser, and resolves with whether that worked. */
  readonly openAddress: (address: string) => Promise<boolean>;
  /** Calls a listener with each line that the user types, until the function that it returns is called; none without a terminal. */
  readonly typed?: ((listener: (line: string) => void) => () => void) | undefined;
}

export interface Command {
  readonly help: string;
  /** Resolves with the exit code: 2 for an invalid command line. Never rejects. */
  readonly run: (argv: readonly string[], terminal: Terminal) => Promise<number>;
}

interface CommandFields<Given extends Flags> {
  readonly name: string;
  /** The purpose, above the flags in the help. */
  readonly about: string;
  readonly flags: Given;
  /** Further facts, below the flags. */
  readonly notes?: string;
  /** True if it runs a program that stands behind `--`. */
  readonly takesProgram?: true;
  /** The exit code if it cannot do what it is asked for. */
  readonly failure: number;
  /** Resolves with the exit code. What it rejects with is printed as one line. */
  readonly run: (values: Values<Given>, terminal: Terminal, program: readonly string[] | undefined) => Promise<number>;
}

const EVERYWHERE = {
  help: { about: "print this", short: "h" },
  version: { about: "print the version" },
} as const satisfies Flags;

export const SERVICE = {
  "base-url": {
    value: "URL",
    about: "where the service is, with its version segment (default: PROJECT_AUTOMATION_BASE_URL)",
  },
  "allow-insecure-http": { about: "send the token over plain http: to another machine, where others can read it" },
} as const satisfies Flags;

/** The address and the token that the flags and the environment name. Throws an error whose message holds no secret. */
export function parseConnection(
  flags: Values<typeof SERVICE>,
  { environment }: Pick<Terminal, "environment">,
): { readonly baseUrl: URL; readonly token: string } {
  const address = flags["base-url"];
  const given = address === undefined ? {} : { baseUrl: parseService(address, "--base-url") };
  const { baseUrl, token, tokenIsFor } = withEnvironment<never>(given, (name) => environment[name]);
  if (baseUrl === undefined) throw new UsageError(`no address: pass --base-url, or set ${VARIABLES.baseUrl}`);
  if (tokenIsFor !== undefined) {
    throw new UsageError(
      `${VARIABLES.token} is for ${VARIABLES.baseUrl} (${tokenIsFor}), and --base-url is another service: set both variables for ${baseUrl}`,
    );
  }
  if (token === undefined) throw new UsageError(`no token: set ${VARIABLES.token}`);
  const problem = problemOfToken(token);
  if (problem !== undefined) throw new UsageError(`${VARIABLES.token} ${problem}`);
  if (!isSafeTransport(baseUrl, flags["allow-insecure-http"])) {
    throw new UsageError(
      "the address is plain http: to another machine, where others can read the token; use https:, or --allow-insecure-http",
    );
  }
  return { baseUrl: new URL(baseUrl), token };
}

const LONGEST_LINE = 500;

/** PowerShell and `npm exec` take the first `--` away. */
const BEHIND_DASHES =
  'takes flags only; write -- before a command; in PowerShell write "--", and in place of npm exec use npx';

/** Describes a command. `--help`, `--version` and mistakes are the same for each. */
export function command<Given extends Flags>(fields: CommandFields<Given>): Command {
  const { name, about, notes, takesProgram = false, failure } = fields;
  const flags = { ...fields.flags, ...EVERYWHERE };
  const line = `project-automation ${name} [flags]`;
  const usage = `Usage: ${line}\n${takesProgram ? `       ${line} -- COMMAND…\n` : ""}`;
  const help = [usage, about, helpOf(flags), notes].filter((part) => part !== undefined).join("\n");
  const run: Command["run"] = async (argv, terminal) => {
    try {
      const { own, program } = takesProgram ? splitAtDashes(argv) : { own: argv };
      const { help: isHelp, version, ...values } = parseFlags(own, flags, takesProgram ? BEHIND_DASHES : undefined);
      if (isHelp !== true && version !== true) return await fields.run(values as Values<Given>, terminal, program); // the rest of them
      terminal.out(isHelp === true ? help : `${VERSION}\n`);
      return 0;
    } catch (error) {
      say(name, terminal, error);
      return statusOf(error) ?? failure;
    }
  };
  return { help, run };
}

/** The exit code of an error that has its own: options that the client refuses are a mistake of the command line, too. */
function statusOf(error: unknown): number | undefined {
  if (error instanceof CommandError) return error.status;
  return error instanceof InvalidInput || error instanceof ConfigError ? USAGE : undefined;
}

/** Prints one line on standard error, without the token of the environment. */
export function say(name: string, { err, environment }: Terminal, told: unknown): void {
  const secrets = [environment[VARIABLES.token] ?? ""].filter(Boolean);
  const text = isError(told) ? told.message : String(told);
  err(
    `${["project-automation", name].join(" ").trim()}: ${new Redactor({ tokens: secrets }).line(text, LONGEST_LINE)}\n`,
  );
}
