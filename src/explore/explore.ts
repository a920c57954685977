import { availableParallelism } from "node:os";
import { isWrite } from "../core/wire/method.ts";
import { atCaller } from "../emulator/checks.ts";
import { Copies } from "./folder.ts";
import { Interrupted, untilInterrupted } from "./interruption.ts";
import { type Disturbance, KIND_NAMES, nameOf } from "./kinds.ts";
import { type ExploreOptions, type ParsedExploreOptions, parseExploreOptions } from "./options.ts";
import { type Places, placesOf } from "./places.ts";
import {
  ExplorationError,
  type ExplorationReport,
  groupByCause,
  hasPassed,
  type Instance,
  reportOf,
} from "./report.ts";
import { subjectOf } from "./requests.ts";
import { type Echo, makeRun, type Setup } from "./run.ts";
import { startsOf } from "./run-record.ts";
import { type Learnt, learn } from "./undisturbed.ts";
import { judge } from "./verdict.ts";

/**
 * Runs your program against the emulator, once for each kind of fault and some of its requests, starts it again until it
 * ends with 0, and compares what is there with what the undisturbed program makes. `project-automation explore` does it
 * from a shell.
 *
 * @throws `ExplorationError` with the report if something was found or not all was tried, `TypeError` for an invalid
 * option, and `Error` if the undisturbed program fails or sends other requests each time; it rejects with them
 *
 * @example
 * const { message } = await explore({ command: ["node", "import.mjs"] });
 * console.log(message);
 */
export async function explore(options: ExploreOptions): Promise<ExplorationReport> {
  const given = atCaller(explore, () => parseExploreOptions(options));
  const site: { stack?: string } = {};
  Error.captureStackTrace(site, explore);
  const report = await exploreProgram(given).catch((error: unknown) => {
    if (error instanceof Interrupted) error.endProcess();
    throw error;
  });
  if (hasPassed(report)) return report;
  const error = new ExplorationError(report);
  // It begins in the code that called, and not where the exploration ended.
  error.stack = `${error.name}: ${error.message}${/\n {4}at .*/s.exec(site.stack ?? "")?.[0] ?? ""}`;
  throw error;
}

/** The part that the command alone has. */
interface CommandPart {
  /** The one run to make, by its name. */
  readonly only?: string | undefined;
  /** Each request is tried with each kind. */
  readonly all?: boolean | undefined;
  /** The flags that a run depends on, as they stand on a command line. */
  readonly flags?: string | undefined;
  readonly echo?: Echo | undefined;
}

/** As {@link explore}; resolves with findings, too. Rejects with an {@link Interrupted} after a signal. */
export async function exploreProgram(
  options: ParsedExploreOptions,
  part: CommandPart = {},
): Promise<ExplorationReport> {
  return untilInterrupted(options.signal, async (signal) => {
    const copies = await Copies.of(options.folder ?? process.cwd());
    try {
      return await new Exploration({ options, copies, signal }, part).run();
    } finally {
      await copies.remove();
    }
  });
}

/** The least time that a start has after which it counts as one that hangs. */
const LEAST_LIMIT_MS = 10_000;

type Result = Instance | "right" | "told" | "unreached";

class Exploration {
  readonly #setup: Setup;
  readonly #part: CommandPart;

  constructor(setup: Setup, part: CommandPart) {
    this.#setup = setup;
    this.#part = part;
  }

  async run(): Promise<ExplorationReport> {
    const { options, signal } = this.#setup;
    const { jobs = 2 * availableParallelism(), timeoutMs = 0, onProgress } = options;
    const learnt = await learn(this.#setup);
    const limitMs = Math.max(LEAST_LIMIT_MS, 5 * learnt.longestMs, timeoutMs);
    const { places, leftOut } = this.#placesIn(learnt);
    const results = new Map<Disturbance, Result>();
    const tryOut = async (place: Disturbance): Promise<void> => {
      results.set(place, await this.#tryOut(place, learnt, limitMs));
      onProgress?.({ runs: results.size, planned: places.length, wrong: [...results.values()].filter(isWrong).length });
    };
    await inParallel(places, jobs, tryOut);
    if (jobs > 1 && places.length > 1) await confirmHangs(places, results, tryOut);
    signal.throwIfAborted();
    const withResult = (wanted: Result) => places.filter((place) => results.get(place) === wanted);
    return reportOf({
      runs: places.length,
      requests: learnt.first.length,
      right: withResult("right").length,
      told: withResult("told").length,
      unreached: withResult("unreached").map(nameOf),
      findings: groupByCause(places.flatMap((place) => [results.get(place)].filter(isWrong))),
      leftOut,
      notes: notesOf(learnt, options),
      repeat: (only) => this.#commandFor(only),
    });
  }

  #placesIn(learnt: Learnt): Places {
    const { faults = KIND_NAMES } = this.#setup.options;
    const { only, all = false } = this.#part;
    if (only === undefined) return placesOf(learnt, { faults, all });
    const { places } = placesOf(learnt, { faults: KIND_NAMES, all: true });
    const place = places.find((one) => nameOf(one) === only);
    if (place !== undefined) return { places: [place], leftOut: places.length - 1 };
    throw new Error(`there is no run "${only}": the undisturbed program sends ${learnt.first.length} requests`);
  }

  async #tryOut(disturbance: Disturbance, { reference }: Learnt, limitMs: number): Promise<Result> {
    const run = await makeRun(this.#setup, { disturbance, limitMs, echo: this.#part.echo });
    if (run.hit === undefined) return "unreached";
    const verdict = judge(reference, run);
    if (typeof verdict === "string") return verdict;
    const starts = startsOf(run).map(({ outcome }, at) =>
      at < run.first.starts.length ? `start ${at + 1} ${outcome.words}` : `once more, it ${outcome.words}`,
    );
    return { wrong: verdict, disturbance, applied: run.hit.applied, starts };
  }

  #commandFor(only: string): string {
    const { command } = this.#setup.options;
    const { flags = "" } = this.#part;
    return `npx project-automation explore --only ${quoted(only)} ${flags}-- ${command.map(quoted).join(" ")}`;
  }
}

const isWrong = (result: Result | undefined): result is Instance => typeof result === "object";

/** A busy machine may have been slow: where starts were late at an operation, one at least is made again, alone. */
async function confirmHangs(
  places: readonly Disturbance[],
  results: ReadonlyMap<Disturbance, Result>,
  tryOut: (place: Disturbance) => Promise<void>,
): Promise<void> {
  const hangs = (place: Disturbance): boolean => {
    const result = results.get(place);
    return isWrong(result) && result.wrong.what === "hangs";
  };
  const confirmed = new Set<string>();
  for (const place of places.filter(hangs)) {
    const subject = subjectOf(place.request);
    if (!confirmed.has(subject)) await tryOut(place);
    if (hangs(place)) confirmed.add(subject);
  }
}

export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `"${word.replaceAll(/["\\$`]/g, "\\$&")}"`;

/** Does the work for each item, some of them at once. Rejects with the first error, when nothing is under way any more. */
async function inParallel<Item>(
  items: readonly Item[],
  jobs: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const errors: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      if (errors.length > 0) return;
      await work(item).catch((error: unknown) => errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  if (errors.length > 0) throw errors[0];
}

function notesOf({ reference: { run, unsteady } }: Learnt, { compare }: ExploreOptions): string[] {
  const notes = [...unsteady].map(([field, how]) => `Not compared, since undisturbed runs differ: ${field} (${how}).`);
  const requests = startsOf(run).flatMap((start) => start.requests);
  if (compare === undefined && !requests.some(({ method }) => isWrite(method))) {
    notes.push(
      "The program only reads. Name a file that it makes, which is then compared: --compare report.json (- is its standard output).",
    );
  }
  const refused = requests.find(({ status = 0 }) => status >= 400);
  if (refused !== undefined)
    notes.push(
      `The undisturbed program is refused: ${refused.method} ${refused.path} ${refused.status} ${refused.code}.`,
    );
  return notes;
}
