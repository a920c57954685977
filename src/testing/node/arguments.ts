import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { check, RECORD } from "../checks.ts";
import { createEmulator } from "../emulator.ts";
import type { StartOptions } from "../node.ts";
import { type EmulatorOptions, OPTIONS } from "../options.ts";

/** The text of `--help`. */
export const USAGE = `Usage: project-automation-emulator [options]

Runs the Project Automation API in memory, with state, on a port of this machine.

  --port N                 listen on port N (default: any free port)
  --host H                 listen on host H (default: 127.0.0.1; anything else lets others in)
  --allow-host H           accept requests whose Host header names H (may be repeated; default: loopback)
  --allow-private-network  let web pages of public sites in
  --projects N             begin with N projects (default: 3)
  --sessions N             begin with N sessions in each project (default: 3)
  --session-states A,B,C   move a session on by one state each time it is got
  --list-issues            serve GET /projects/{project}/issues, which the contract does not show
  --rate-limit N           allow N requests per token and window (default: 600), or "off"
  --window-ms N            length of that window in milliseconds (default: 60000)
  --latency MS             respond to every request MS milliseconds late
  --fail PERCENT           respond to PERCENT of the requests with 503, and do not carry them out
  --seed FILE              begin with the projects, sessions and conventions of a JSON file
  --quiet                  print the two variables and nothing else
  --help                   print this
  --version                print the version
`;

/** What the command line asks for. */
export type Command =
  | { readonly kind: "help" | "version" }
  | {
      readonly kind: "start";
      readonly options: StartOptions;
      readonly quiet: boolean;
      readonly latencyMs: number;
      readonly failPercent: number;
    };

/** Reads a command line. Throws an `Error` whose message is one line for the user. */
export function readCommand(argv: readonly string[]): Command {
  const flags = parse(argv);
  if (flags.help === true) return { kind: "help" };
  if (flags.version === true) return { kind: "version" };
  const seed = flags.seed === undefined ? {} : readSeed(flags.seed);
  const failPercent = count("--fail", flags.fail) ?? 0;
  if (failPercent > 100) throw new Error(`--fail must be a percentage from 0 to 100, got "${failPercent}"`);
  return {
    kind: "start",
    quiet: flags.quiet === true,
    latencyMs: count("--latency", flags.latency) ?? 0,
    failPercent,
    options: {
      ...seed,
      port: count("--port", flags.port),
      host: flags.host,
      allowedHosts: flags["allow-host"],
      allowPrivateNetwork: flags["allow-private-network"],
      projects: count("--projects", flags.projects) ?? seed.projects,
      sessionsPerProject: count("--sessions", flags.sessions) ?? seed.sessionsPerProject,
      sessionStates: flags["session-states"]?.split(",") ?? seed.sessionStates,
      listIssues: flags["list-issues"] ?? seed.listIssues,
      rateLimit: rateLimit(flags, seed.rateLimit),
    },
  };
}

type Flags = ReturnType<typeof parse>;

// The type is inferred from the table of options; nothing outside of this file sees it.
function parse(argv: readonly string[]) {
  const string = { type: "string" } as const;
  const boolean = { type: "boolean" } as const;
  try {
    return parseArgs({
      args: [...argv],
      options: {
        port: string,
        host: string,
        "allow-host": { ...string, multiple: true },
        "allow-private-network": boolean,
        projects: string,
        sessions: string,
        "session-states": string,
        "list-issues": boolean,
        "rate-limit": string,
        "window-ms": string,
        latency: string,
        fail: string,
        seed: string,
        quiet: boolean,
        help: boolean,
        version: boolean,
      },
    }).values;
  } catch (error) {
    // Node adds advice in further sentences and lines.
    throw new Error(`${messageOf(error).split(/\. |\n/, 1)[0]}; see --help`);
  }
}

function rateLimit(flags: Flags, seeded: EmulatorOptions["rateLimit"]): EmulatorOptions["rateLimit"] {
  if (flags["rate-limit"] === "off") return false;
  const limit = count("--rate-limit", flags["rate-limit"]);
  const windowMs = count("--window-ms", flags["window-ms"]);
  if (limit === undefined && windowMs === undefined) return seeded;
  const base = seeded === undefined || seeded === false ? { limit: 600 } : seeded;
  return { limit: limit ?? base.limit, windowMs: windowMs ?? base.windowMs };
}

function count(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  throw new Error(`${flag} must be a whole number, got "${value}"`);
}

type SeedOptions = Omit<EmulatorOptions, "now" | "random" | "baseUrl" | "onRequest">;

/** The options that a seed file may hold: those that JSON can express, except for the address. */
const { now: _now, random: _random, baseUrl: _baseUrl, onRequest: _onRequest, ...SEED } = OPTIONS;

function readSeed(file: string): EmulatorOptions {
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, "utf8"));
    check.value(parsed, "the seed", RECORD);
    const seed = check.options(parsed as SeedOptions, "the seed", SEED);
    createEmulator(seed);
    return seed;
  } catch (error) {
    throw new Error(`cannot use --seed ${file}: ${messageOf(error)}`);
  }
}

/** The message of anything thrown, on one line. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, " ");
}
