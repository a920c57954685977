import type { Disturbance } from "./fault-kinds.ts";
import { judge, type Reference, startsOf } from "./judge.ts";
import type { Instance } from "./report.ts";
import { makeRun, type RunRecord, type Setup } from "./run.ts";
import type { RunPlan } from "./starts.ts";

/** The runs with faults: the number of each verdict, and those in which something is wrong. */
export class Trials<Prepared> {
  readonly counts = { runs: 0, right: 0, told: 0, unreached: 0 };
  readonly instances: Instance[] = [];
  readonly #setup: Setup<Prepared>;
  readonly #reference: Reference;
  readonly #plan: RunPlan;

  constructor(setup: Setup<Prepared>, reference: Reference, plan: RunPlan) {
    this.#setup = setup;
    this.#reference = reference;
    this.#plan = plan;
  }

  /** Makes one run with these faults, and judges it. */
  async run(disturbances: readonly Disturbance[]): Promise<RunRecord> {
    const run = await makeRun(this.#setup, { ...this.#plan, disturbances });
    this.counts.runs += 1;
    const verdict = run.isReached ? judge(this.#reference, run) : "unreached";
    if (typeof verdict === "string") this.counts[verdict] += 1;
    else this.instances.push({ wrong: verdict, disturbances, applied: run.applied, starts: endsOf(run) });
    return run;
  }
}

const endsOf = (run: RunRecord): string[] =>
  startsOf(run).map(({ outcome }) =>
    outcome.state === "rejected" ? `rejected: ${String(outcome.error)}` : outcome.state,
  );
