import type { Present } from "../../../core/checks/validators.ts";
import { isWrite } from "../../../core/wire/method.ts";
import { atCaller } from "../../checks.ts";
import { DEFAULT_KINDS, type Disturbance } from "./fault-kinds.ts";
import type { Reference } from "./judge.ts";
import { checkOptions, type ExploreOptions } from "./options.ts";
import { orAborted } from "./or-aborted.ts";
import { installOwnGlobals } from "./own-globals.ts";
import { takePlatform } from "./own-time.ts";
import { type Continuation, planOf, requestsOf, samplePairs } from "./plan.ts";
import { beyondSingles, ExplorationError, type ExplorationReport, groupByCause, reportOf } from "./report.ts";
import type { RunRecord, Setup } from "./run.ts";
import { scriptOf } from "./script.ts";
import { standingResources } from "./start.ts";
import type { RunPlan } from "./starts.ts";
import { Trials } from "./trials.ts";
import { learn } from "./undisturbed.ts";

let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs your program against the emulator, once for each request and each way in which it can fail, and compares the world
 * at its end with that of the undisturbed program. A second exploration in the process waits for the first.
 *
 * @throws `ExplorationError` with the report if something was found, `TypeError` for an invalid option, and `Error` if the
 * undisturbed program rejects or sends other requests each time; it rejects with them
 *
 * @example
 * const { message } = await exploreFaults({
 *   program: ({ client }) => client.projects.list().toArray(),
 *   compare: ({ result }) => result,
 * });
 * console.log(message);
 */
export async function exploreFaults<Prepared = undefined>(
  options: ExploreOptions<Prepared>,
): Promise<ExplorationReport> {
  const given = atCaller(exploreFaults, () => checkOptions(options));
  const site: { stack?: string } = {};
  Error.captureStackTrace(site, exploreFaults);
  const turn = orAborted(previous, given.signal).then(async () => {
    await takePlatform();
    const restore = installOwnGlobals();
    try {
      return await explore(given);
    } finally {
      restore();
    }
  });
  previous = Promise.allSettled([previous, turn]);
  const report = await turn;
  if (report.findings.length === 0) return report;
  const error = new ExplorationError(report);
  // It begins in the code that called, and not where the exploration ended.
  error.stack = `${error.name}: ${error.message}${/\n {4}at .*/s.exec(site.stack ?? "")?.[0] ?? ""}`;
  throw error;
}

async function explore<Prepared>(options: Present<ExploreOptions<Prepared>>): Promise<ExplorationReport> {
  const { faults = DEFAULT_KINDS, depth = 1, maxRuns = 200, seed = 1, signal, onProgress } = options;
  // The platform makes them when they are first asked for: they are not the program's.
  void [process.stdout, process.stderr];
  const resources = standingResources();
  const plain: RunPlan = { disturbances: [], isReordered: false, maxRequests: Infinity, resources, signal };
  const setup = setupOf(options);
  const { reference, requests } = await learn(setup, plain);
  const trials = new Trials({ ...setup, undisturbed: reference.run.emulator }, reference, {
    ...plain,
    maxRequests: Math.max(200, 20 * requests.length),
  });
  const tryOut = async (disturbances: readonly Disturbance[], planned: number): Promise<RunRecord> => {
    signal?.throwIfAborted();
    const run = await trials.run(disturbances);
    onProgress?.({ runs: trials.counts.runs, planned });
    return run;
  };
  const singles = planOf(requests, faults);
  const continuations: Continuation[] = [];
  for (const first of singles) {
    const run = await tryOut([first], singles.length);
    const all = run.starts.flatMap((start) => start.requests);
    const hit = all.findIndex(({ faulty }) => faulty);
    if (run.isReached) continuations.push({ first, later: requestsOf(all).slice(hit + 1) });
  }
  const pairs = depth === 2 ? samplePairs(continuations, { faults, maxRuns, seed }) : [];
  for (const pair of pairs) await tryOut(pair, singles.length + pairs.length);
  const findings = groupByCause(beyondSingles(trials.instances), ({ disturbances, starts }) =>
    scriptOf({
      disturbances,
      starts: starts.length,
      isPrepared: options.prepare !== undefined,
      hasEmulatorOptions: options.emulator !== undefined,
    }),
  );
  return reportOf({ ...trials.counts, requests: requests.length, findings, notes: notesOf(reference, options) });
}

function setupOf<Prepared>(options: Present<ExploreOptions<Prepared>>): Setup<Prepared> {
  return {
    program: options.program,
    prepare: options.prepare ?? (() => undefined as Prepared), // without `prepare`, Prepared is undefined
    dispose: (prepared) => options.dispose?.(prepared),
    compare: options.compare,
    check: options.check,
    starts: options.starts ?? 3,
    emulator: options.emulator ?? {},
  };
}

function notesOf<Prepared>(
  { run, unsteady, isComparable }: Reference,
  options: Present<ExploreOptions<Prepared>>,
): string[] {
  const notes = [...unsteady].map(([field, how]) => `Not compared, since undisturbed runs differ: ${field} (${how}).`);
  if (!isComparable) notes.push("Not compared, since undisturbed runs differ: what compare returns.");
  const onlyReads = !run.starts.some(({ requests }) => requests.some(({ method }) => isWrite(method)));
  if (onlyReads && options.compare === undefined && options.check === undefined)
    notes.push("The program only reads: without compare, what it makes of the answers was not looked at.");
  return notes;
}
