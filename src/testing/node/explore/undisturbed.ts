import type { Reference } from "./judge.ts";
import { differenceOfCounts, requestsOf } from "./plan.ts";
import { makeRun, type RunRecord, type Setup } from "./run.ts";
import type { RunPlan } from "./starts.ts";
import { unsteadyFields } from "./world.ts";

/** Runs the program undisturbed: twice, and once with its requests in another order. */
export async function learn<Prepared>(
  setup: Setup<Prepared>,
  plain: RunPlan,
): Promise<{ readonly reference: Reference; readonly requests: ReturnType<typeof requestsOf> }> {
  const runs: RunRecord[] = [];
  for (const isReordered of [false, false, true])
    runs.push(undisturbedRun(await makeRun({ ...setup, starts: 1 }, { ...plain, isReordered })));
  const [run, other] = runs;
  if (run === undefined || other === undefined) throw new Error("no undisturbed run was made");
  const requests = requestsOf(run.starts[0]?.requests ?? []);
  if (requests.length === 0)
    throw new Error("the undisturbed program sent no request through client or clientOptions, so nothing can fail");
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
