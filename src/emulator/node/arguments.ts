import { readFileSync } from "node:fs";
import { type Flags, parseCount, UsageError, type Values } from "../../command/flags.ts";
import { INVALID, type Validator } from "../../core/checks/validators.ts";
import { isError } from "../../core/checks/values.ts";
import { textOf } from "../../files/regular-file.ts";
import { check } from "../checks.ts";
import { createEmulator } from "../emulator.ts";
import { type EmulatorOptions, OPTIONS } from "../options.ts";
import { HOST_NAME } from "./request-listener.ts";
import type { StartOptions } from "./running-emulator.ts";
import { ADDRESS } from "./start.ts";

/** The flags that say what the service holds. */
export const WORLD_FLAGS = {
  projects: { value: "N", about: "begin with N projects in place of web, api and docs" },
  sessions: { value: "N", about: "begin with N sessions in each project (default: 3)" },
  "session-states": { value: "A,B,C", about: "move each session on by one state with each GET of it" },
  "list-issues": { about: "serve GET /projects/{project}/issues, which the API documentation does not show" },
  seed: { value: "FILE", about: "begin with the projects, sessions and conventions of a JSON file" },
} as const satisfies Flags;

export const FLAGS = {
  port: { value: "N", about: "listen on port N (default: 4010, or any free port if 4010 is taken)" },
  host: { value: "H", about: "listen on host H (default: 127.0.0.1; others let other machines in)" },
  "allow-host": {
    value: "H",
    multiple: true,
    about: "accept requests whose Host header names H (may be repeated; default: loopback)",
  },
  "page-from": {
    value: "ADDRESS",
    multiple: true,
    about: "let a browser at ADDRESS open the page, as behind a container's port (may be repeated; default: loopback)",
  },
  ...WORLD_FLAGS,
  "rate-limit": { value: "N", about: 'allow N requests per token and window (default: 600), or "off"' },
  "window-ms": { value: "N", about: "length of that window in milliseconds (default: 60000)" },
  latency: { value: "MS", about: "respond to every request MS milliseconds late" },
  fail: { value: "PERCENT", about: "respond to PERCENT of the requests with 503, and do not carry them out" },
  dotenv: {
    value: "FILE",
    about: "set the two variables in FILE, for node --env-file; a FILE with other values of them is refused",
  },
  stay: { about: "go on when the command behind -- has ended, until Ctrl-C" },
  json: { about: "print what happens as JSON, one value a line, in place of lines for people" },
  quiet: { about: "print the two variables and nothing else" },
} as const satisfies Flags;

export interface Start {
  readonly options: StartOptions;
  readonly quiet: boolean;
  readonly json: boolean;
  readonly program: readonly string[] | undefined;
  /** True if it goes on until it is interrupted. */
  readonly stays: boolean;
  /** The file that the two variables are written into. */
  readonly dotenv: string | undefined;
  readonly latencyMs: number;
  readonly failPercent: number;
}

const MOST = 1_000_000_000;

export function parseStart(flags: Values<typeof FLAGS>, program?: readonly string[]): Start {
  if (program === undefined && flags.stay) throw new UsageError("--stay needs a command: --stay -- node app.mjs");
  if (flags.json && flags.quiet) throw new UsageError("--json and --quiet contradict each other");
  const world = parseWorld(flags);
  return {
    quiet: flags.quiet === true,
    json: flags.json === true,
    program,
    stays: program === undefined || flags.stay === true,
    dotenv: flags.dotenv,
    latencyMs: parseCount("latency", flags.latency, [0, MOST]) ?? 0,
    failPercent: parseCount("fail", flags.fail, [0, 100]) ?? 0,
    options: {
      ...world,
      port: parseCount("port", flags.port, [0, 65_535]),
      host: flags.host,
      allowedHosts: parseEach(flags, "allow-host", HOST_NAME),
      pageFrom: parseEach(flags, "page-from", ADDRESS),
      rateLimit: parseRateLimit(flags, world.rateLimit),
    },
  };
}

/** Reads the flags that say what the service holds, and the seed file that they name. Throws a {@link UsageError}. */
export function parseWorld(flags: Values<typeof WORLD_FLAGS>): EmulatorOptions {
  const seed = flags.seed === undefined ? {} : readSeed(flags.seed);
  return {
    ...seed,
    projects: parseCount("projects", flags.projects, [0, MOST]) ?? seed.projects,
    sessionsPerProject: parseCount("sessions", flags.sessions, [0, MOST]) ?? seed.sessionsPerProject,
    sessionStates: parseStates(flags["session-states"]) ?? seed.sessionStates,
    listIssues: flags["list-issues"] ?? seed.listIssues,
  };
}

function parseEach(
  flags: Values<typeof FLAGS>,
  name: "allow-host" | "page-from",
  { words, parse }: Validator<string>,
): readonly string[] | undefined {
  const wrong = flags[name]?.find((value) => parse(value) === INVALID);
  if (wrong !== undefined) throw new UsageError(`--${name} must be ${words}, not "${wrong}"`);
  return flags[name];
}

function parseStates(value: string | undefined): readonly string[] | undefined {
  const states = value?.split(",");
  if (states?.includes(""))
    throw new UsageError(`--session-states must be states and commas, as in a,b,c, not "${value}"`);
  return states;
}

function parseRateLimit(
  flags: Values<typeof FLAGS>,
  seeded: EmulatorOptions["rateLimit"],
): EmulatorOptions["rateLimit"] {
  if (flags["rate-limit"] === "off") return false;
  const limit = parseCount("rate-limit", flags["rate-limit"], [0, MOST]);
  const windowMs = parseCount("window-ms", flags["window-ms"], [1, MOST]);
  if (limit === undefined && windowMs === undefined) return seeded;
  const base = seeded === undefined || seeded === false ? { limit: 600 } : seeded;
  return { limit: limit ?? base.limit, windowMs: windowMs ?? base.windowMs };
}

/** The options that a seed file may hold: those that JSON can express, except for the address. */
const { now: _now, random: _random, baseUrl: _baseUrl, onRequest: _onRequest, ...SEED } = OPTIONS;

function readSeed(file: string): EmulatorOptions {
  try {
    const text = textOf(readFileSync(file), "; the shell of Windows writes UTF-16 for >, so save it as UTF-8");
    const parsed: unknown = JSON.parse(text.replace(/^\ufeff/, "")); // editors of Windows begin with a mark
    const seed = check.options(parsed, "the seed", SEED) as EmulatorOptions; // its rows are checked as they are made
    createEmulator(seed);
    return seed;
  } catch (error) {
    throw new UsageError(`cannot use --seed ${file}: ${isError(error) ? error.message : String(error)}`);
  }
}
