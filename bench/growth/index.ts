/** Growth: the CPU time of one item of a work with many of them, beside one of few. A process of its own for each round. */

import { Part } from "../support/process.ts";
import { type Figures, type Found, type Guard, type Measure, spreadOf } from "../support/results.ts";
import { FEW, MANY, ROWS } from "./rows.ts";
import type { Grown, GrowthTask } from "./worker.ts";

const FIGURE = "× few";

export const growth: Measure = {
  title: `The CPU time of one item among ${MANY}, beside one among ${FEW}`,
  guards: Object.keys(ROWS).map((client): Guard => ({ client, figure: FIGURE, atMost: 1.5 })),
  async run({ packages: [folder = ""], quick }) {
    const figures: Record<string, Found> = {};
    for (const row of Object.keys(ROWS)) {
      const rounds: Grown[] = [];
      for (let round = 0; round < (quick ? 1 : 3); round += 1) rounds.push(await grow({ folder, row }));
      figures[row] = {
        "µs among few": spreadOf(rounds.map(({ few }) => few)),
        "µs among many": spreadOf(rounds.map(({ many }) => many)),
        [FIGURE]: spreadOf(rounds.map(({ few, many }) => many / few)),
      };
    }
    return figures satisfies Figures;
  },
};

async function grow(task: GrowthTask): Promise<Grown> {
  const worker = new Part(new URL("worker.ts", import.meta.url), task);
  try {
    return await worker.next<Grown>();
  } finally {
    worker.stop();
  }
}
