import type { Present } from "../../../core/checks/validators.ts";
import { atCaller } from "../../checks.ts";
import type { Emulator } from "../../emulator.ts";
import { DEFAULT_KINDS, type Disturbance } from "./fault-kinds.ts";
import { judge, type Reference } from "./judge.ts";
import { checkOptions, type ExploreOptions } from "./options.ts";
import { installOwnGlobals } from "./own-globals.ts";
import { takePlatform } from "./own-time.ts";
import { type Continuation, differenceOfCounts, planOf, requestsOf, samplePairs } from "./plan.ts";
import {
  beyondSingles,
  ExplorationError,
  type ExplorationReport,
  groupByCause,
  type Instance,
  reportOf,
} from "./report.ts";
import { makeRun, orAborted, type RunPlan, type RunRecord, type Setup } from "./run.ts";
import { scriptOf } from "./script.ts";
import { standingResources } from "./start.ts";
import { unsteadyFields } from "./world.ts";

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
  const { faults = DEFAULT_KINDS, depth = 1, maxRuns = 200, seed = 1, signal, check, onProgress } = options;
  let undisturbed: Emulator | undefined;
  const setup: Setup<Prepared> = {
    program: options.program,
    prepare: options.prepare ?? (() => undefined as Prepared), // without `prepare`, Prepared is undefined
    dispose: (prepared) => options.dispose?.(prepared),
    compare: options.compare,
    check:
      check &&
      ((emulator, starts) => {
        const states = starts.map(({ outcome: { state } }) => ({ state }));
        return check({ emulator, undisturbed: undisturbed ?? emulator, starts: states });
      }),
    starts: options.starts ?? 3,
    emulator: options.emulator ?? {},
  };
  // The platform makes them when they are first asked for: they are not the program's.
  void [process.stdout, process.stderr];
  const resources = standingResources();
  const plain: RunPlan = { disturbances: [], isReordered: false, maxRequests: Infinity, resources, signal };
  const { reference, requests } = await learn(setup, plain);
  if (requests.length === 0)
    throw new Error("the undisturbed program sent no request through client or clientOptions, so nothing can fail");
  undisturbed = reference.run.emulator;
  const bounded = { ...plain, maxRequests: Math.max(200, 20 * requests.length) };
  const instances: Instance[] = [];
  const continuations: Continuation[] = [];
  const counts = { runs: 0, right: 0, told: 0, unreached: 0 };
  let planned = 0;
  const tryOut = async (disturbances: readonly Disturbance[]): Promise<RunRecord> => {
    signal?.throwIfAborted();
    const run = await makeRun(setup, { ...bounded, disturbances });
    counts.runs += 1;
    onProgress?.({ runs: counts.runs, planned });
    const verdict = run.isReached ? judge(reference, run) : "unreached";
    if (typeof verdict === "string") counts[verdict] += 1;
    else {
      const starts = [...run.starts, ...(run.again === undefined ? [] : [run.again])].map(({ outcome }) =>
        outcome.state === "rejected" ? `rejected: ${String(outcome.error)}` : outcome.state,
      );
      instances.push({ wrong: verdict, disturbances, applied: run.applied, starts });
    }
    return run;
  };
  const singles = planOf(requests, faults);
  planned = singles.length;
  for (const first of singles) {
    const run = await tryOut([first]);
    const all = run.starts.flatMap((start) => start.requests);
    const hit = all.findIndex(({ faulty }) => faulty);
    if (run.isReached) continuations.push({ first, later: requestsOf(all).slice(hit + 1) });
  }
  const pairs = depth === 2 ? samplePairs(continuations, { faults, maxRuns, seed }) : [];
  planned += pairs.length;
  for (const pair of pairs) await tryOut(pair);
  const findings = groupByCause(beyondSingles(instances), ({ disturbances, starts }) =>
    scriptOf({
      disturbances,
      starts: starts.length,
      isPrepared: options.prepare !== undefined,
      hasEmulatorOptions: options.emulator !== undefined,
    }),
  );
  return reportOf({ ...counts, requests: requests.length, findings, notes: notesOf(reference, options) });
}

/** Runs the program undisturbed: twice, and once with its requests in another order. */
async function learn<Prepared>(
  setup: Setup<Prepared>,
  plain: RunPlan,
): Promise<{ readonly reference: Reference; readonly requests: ReturnType<typeof requestsOf> }> {
  const runs: RunRecord[] = [];
  for (const isReordered of [false, false, true])
    runs.push(undisturbedRun(await makeRun({ ...setup, starts: 1 }, { ...plain, isReordered })));
  const [run, other] = runs;
  if (run === undefined || other === undefined) throw new Error("no undisturbed run was made");
  const requests = requestsOf(run.starts[0]?.requests ?? []);
  const difference = differenceOfCounts(requests, requestsOf(other.starts[0]?.requests ?? []));
  if (difference !== undefined) throw new Error(`two undisturbed runs differ: ${difference}; likely by ${REASONS}`);
  const reference: Reference = {
    run,
    unsteady: unsteadyFields(runs.map(({ end }) => end.world)),
    isComparable: new Set(runs.map(({ end }) => end.compared)).size === 1,
    isChecked: setup.check !== undefined,
  };
  return { reference, requests };
}

const REASONS = "a module variable, a file outside prepare, the clock, or chance";

function undisturbedRun(run: RunRecord): RunRecord {
  const outcome = run.starts[0]?.outcome;
  if (outcome?.state === "rejected")
    throw new Error(`the undisturbed program rejects: ${String(outcome.error)}; likely by ${REASONS}`, {
      cause: outcome.error,
    });
  if (outcome?.state === "hangs") throw new Error(`the undisturbed program hangs: ${outcome.reason}`);
  if (run.end.failed !== undefined)
    throw new Error("check throws for the undisturbed program", { cause: run.end.failed.error });
  return run;
}

function notesOf<Prepared>(
  { run, unsteady, isComparable }: Reference,
  options: Present<ExploreOptions<Prepared>>,
): string[] {
  const notes = [...unsteady].map(([field, how]) => `Not compared, since undisturbed runs differ: ${field} (${how}).`);
  if (!isComparable) notes.push("Not compared, since undisturbed runs differ: what compare returns.");
  const onlyReads = run.starts.every(({ requests }) =>
    requests.every(({ method }) => method === "GET" || method === "HEAD"),
  );
  if (onlyReads && options.compare === undefined && options.check === undefined)
    notes.push("The program only reads: without compare, what it makes of the answers was not looked at.");
  return notes;
}
