import { constants } from "node:os";
import { type Command, command, type Terminal } from "../command/command.ts";
import { CommandError, type Flags, parseCount, UsageError, type Values } from "../command/flags.ts";
import { now } from "../core/time/clock.ts";
import { parseWorld, WORLD_FLAGS } from "../emulator/node/arguments.ts";
import { logLine } from "../emulator/node/lines.ts";
import { exploreProgram, quoted } from "./explore.ts";
import { Interrupted } from "./interruption.ts";
import { type FaultKind, KIND_NAMES } from "./kinds.ts";
import { type ExplorationProgress, type ExploreOptions, parseExploreOptions } from "./options.ts";
import { hasPassed } from "./report.ts";
import type { Echo } from "./run.ts";
import { wordsOf } from "./world.ts";

const FLAGS = {
  only: { value: "RUN", about: "make this one run, as a finding names it, and show what happens" },
  fault: { value: "KIND", multiple: true, about: `try KIND alone (may be repeated): ${KIND_NAMES.join(", ")}` },
  all: { about: "let each request fail in each way, also if that makes more than 60 runs" },
  compare: {
    value: "FILE",
    multiple: true,
    about: "a FILE that the program makes is to be as without faults (may be repeated); - is its standard output",
  },
  folder: { value: "DIR", about: "run in copies of DIR (default: the working directory)" },
  timeout: { value: "SECONDS", about: "end an undisturbed start after SECONDS (default: 60)" },
  jobs: { value: "N", about: "make N runs at once (default: twice the number of processors)" },
  ...WORLD_FLAGS,
  json: { about: "print the report as JSON" },
} as const satisfies Flags;

/** The flags that change no run. */
const ASIDE: readonly string[] = ["only", "fault", "all", "jobs", "json"];

const NOT_SAFE = 1;
const NOT_EXPLORED = 3;

/** `project-automation explore`: 0 if nothing was found, 1 if something was or not all was tried, 3 if it cannot explore. */
export const EXPLORE: Command = command({
  name: "explore",
  about: `Runs COMMAND against the emulator, usually 10 to 60 times, in copies of its folder. In each run a request fails in
another way, and COMMAND is started again until it ends with 0, and once more. Then the issues and tokens must be as
without the fault. Databases, mails and other services that it uses are real: point them elsewhere.
`,
  flags: FLAGS,
  takesProgram: true,
  failure: NOT_EXPLORED,
  run,
});

async function run(
  flags: Values<typeof FLAGS>,
  terminal: Terminal,
  program: readonly string[] | undefined,
): Promise<number> {
  const progress = progressLine(terminal);
  let last: ExplorationProgress | undefined;
  const onProgress = (made: ExplorationProgress): void => {
    last = made;
    progress.show(made);
  };
  const options = parseExploreOptions({ ...parseArguments(flags, program), signal: terminal.signal, onProgress });
  const flagsOfRun = Object.entries(flags)
    .filter(([name]) => !ASIDE.includes(name))
    .flatMap(([name, given]) =>
      [given].flat().map((value) => `--${name} ${value === true ? "" : `${quoted(String(value))} `}`),
    )
    .join("");
  const echo = flags.only === undefined ? undefined : echoOf(terminal);
  try {
    const part = { only: flags.only, all: flags.all, flags: flagsOfRun, echo };
    const report = await exploreProgram(options, part);
    progress.clear();
    terminal.out(`${flags.json === true ? JSON.stringify(report) : report.message}\n`);
    return hasPassed(report) ? 0 : NOT_SAFE;
  } catch (error) {
    progress.clear();
    const by = (error instanceof Interrupted ? error.by : terminal.signal.reason) as NodeJS.Signals | undefined;
    if (by === undefined) throw error;
    const made = last === undefined ? "before the first run with a fault" : `after ${textOf(last)}`;
    throw new CommandError(`interrupted ${made}`, 128 + constants.signals[by]);
  }
}

function parseArguments(flags: Values<typeof FLAGS>, program: readonly string[] | undefined): ExploreOptions {
  const { only, fault: faults, all } = flags;
  if (program === undefined) throw new UsageError("needs a command: explore -- node import.mjs");
  if (only !== undefined && (faults !== undefined || all === true))
    throw new UsageError("--only names one run: leave out --fault and --all");
  const wrong = faults?.find((name) => !KIND_NAMES.some((known) => known === name));
  if (wrong !== undefined) throw new UsageError(`--fault must be one of ${KIND_NAMES.join(", ")}, not "${wrong}"`);
  const seconds = parseCount("timeout", flags.timeout, [1, 86_400]);
  return {
    command: program,
    folder: flags.folder,
    compare: flags.compare,
    faults: faults as readonly FaultKind[] | undefined, // each was checked
    jobs: parseCount("jobs", flags.jobs, [1, 1_000]),
    timeoutMs: seconds && 1_000 * seconds,
    emulator: parseWorld(flags),
  };
}

function echoOf({ err, colour }: Terminal): Echo {
  return {
    text: err,
    request: (request) => err(`  ${logLine(request, colour.err)}`),
    started: () => err("the program starts\n"),
    ended: ({ words }) => err(`the program ${words}\n\n`),
    left: (things) => err(`at the end:\n${things.map((thing) => `  ${wordsOf(thing)}\n`).join("")}\n`),
  };
}

const textOf = ({ runs, planned, wrong }: ExplorationProgress): string =>
  `${runs} of ${planned} runs${wrong > 0 ? `, ${wrong} of which went wrong` : ""}`;

const TOLD_EACH_MS = 10_000;

/** One line that is written over, in a terminal; elsewhere a line each ten seconds. */
function progressLine({ err, colour }: Terminal) {
  let toldAt = now();
  return {
    show: (progress: ExplorationProgress): void => {
      if (colour.err) err(`\r${textOf(progress)}\u001b[K`);
      else if (now() - toldAt > TOLD_EACH_MS) {
        toldAt = now();
        err(`${textOf(progress)}\n`);
      }
    },
    clear: (): void => {
      if (colour.err) err("\r\u001b[K");
    },
  };
}
