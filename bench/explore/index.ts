/** The exploration of faults: what it finds in three programs that create the same issues, and the time of a run. */

import { Part } from "../support/process.ts";
import type { Figures, Found, Measure } from "../support/results.ts";
import { spreadOf } from "../support/results.ts";
import type { ExploreTask } from "./client.ts";

const ROWS = 12;
const PROGRAMS = ["a retry loop", "Promise.allSettled", "bulkWrite with a journal"] as const;
const RATIO = "× undisturbed";

export type ProgramName = (typeof PROGRAMS)[number];

/** What one exploration found, and its times. */
export interface Explored {
  readonly runs: number;
  readonly right: number;
  readonly told: number;
  readonly wrong: number;
  readonly undisturbedMs: number;
  readonly runMs: number;
}

export const explore: Measure = {
  title: `${ROWS} issues created by three programs, each request failing once in each way`,
  guards: [
    ...PROGRAMS.map((client) => ({ client, figure: RATIO, atMost: 2 })),
    { client: "bulkWrite with a journal", figure: "wrong", atMost: 0 },
  ],
  async run({ packages, quick }) {
    const [folder = ""] = packages;
    const figures: Record<string, Found> = {};
    for (const name of PROGRAMS) {
      const laps: Explored[] = [];
      for (let lap = 0; lap < (quick ? 1 : 3); lap += 1) laps.push(await exploration({ folder, name, rows: ROWS }));
      const [{ runs, right, told, wrong } = { runs: 0, right: 0, told: 0, wrong: 0 }] = laps;
      figures[name] = {
        runs,
        right,
        told,
        wrong,
        "ms undisturbed": spreadOf(laps.map(({ undisturbedMs }) => undisturbedMs)),
        "ms a run": spreadOf(laps.map(({ runMs }) => runMs)),
        [RATIO]: spreadOf(laps.map(({ undisturbedMs, runMs }) => runMs / undisturbedMs)),
      };
    }
    return figures satisfies Figures;
  },
};

async function exploration(task: ExploreTask): Promise<Explored> {
  const client = new Part(new URL("client.ts", import.meta.url), task);
  try {
    return await client.next<Explored>();
  } finally {
    client.stop();
  }
}
