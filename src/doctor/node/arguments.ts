import { parseArgs } from "node:util";
import { flawOfToken } from "../../auth/token-format.ts";
import { checkBaseUrl, checkTransport } from "../../base-url.ts";
import type { Deployment } from "../ask.ts";

export const USAGE = `Usage: project-automation-doctor [options]

Asks a deployment of the service how it differs from what the client and the emulator assume, and prints a table.
It sends only GETs unless --write is given, one at a time, and waits as long as the rate limit asks.

  --base-url URL   where the service is, with its version segment (default: PROJECT_AUTOMATION_BASE_URL)
  --write          also create one token without scopes, look at it, and revoke it
  --json           print the report as JSON
  --out FILE       write the conventions of the deployment, for createEmulator and project-automation-emulator --seed
  --help           print this
  --version        print the version

The token is read from PROJECT_AUTOMATION_TOKEN only: other users of a machine can read a command line.
Exit codes: 0 nothing contradicts the contract, 1 something does, 2 the deployment could not be asked.
`;

/** What the command line asks for. */
export type Command =
  | { readonly kind: "help" | "version" }
  | {
      readonly kind: "diagnose";
      readonly deployment: Deployment;
      readonly json: boolean;
      readonly out: string | undefined;
    };

/** The variables of the environment that are read. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a command line. Throws an `Error` whose message is one line for the user, without secrets. */
export function readCommand(argv: readonly string[], environment: Environment): Command {
  const flags = parse(argv);
  if (flags.help === true) return { kind: "help" };
  if (flags.version === true) return { kind: "version" };
  const address = flags["base-url"] ?? environment["PROJECT_AUTOMATION_BASE_URL"];
  if (!address) throw new Error("no address: pass --base-url, or set PROJECT_AUTOMATION_BASE_URL");
  const token = environment["PROJECT_AUTOMATION_TOKEN"];
  if (!token) throw new Error("no token: set PROJECT_AUTOMATION_TOKEN");
  const flaw = flawOfToken(token);
  if (flaw !== undefined) throw new Error(`PROJECT_AUTOMATION_TOKEN ${flaw}`);
  const baseUrl = checkBaseUrl(address);
  checkTransport(baseUrl, false);
  return {
    kind: "diagnose",
    deployment: { baseUrl, token, write: flags.write === true },
    json: flags.json === true,
    out: flags.out,
  };
}

// The type is inferred from the table of options; nothing outside of this file sees it.
function parse(argv: readonly string[]) {
  const string = { type: "string" } as const;
  const boolean = { type: "boolean" } as const;
  try {
    return parseArgs({
      args: [...argv],
      options: { "base-url": string, write: boolean, json: boolean, out: string, help: boolean, version: boolean },
    }).values;
  } catch (error) {
    const [first] = (error instanceof Error ? error.message : String(error)).split(/\. |\n/, 1);
    throw new Error(`${first}; see --help`);
  }
}
