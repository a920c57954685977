/** Growth: the CPU time of one item of a work with many of them, beside one of few. A process of its own for each round. */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Part } from "../support/process.ts";
import { type Figures, type Found, type Guard, type Measure, spreadOf } from "../support/results.ts";
import { FEW, MANY, REDIS_PORT, REDIS_ROW, ROWS } from "./rows.ts";
import type { Grown, GrowthTask } from "./worker.ts";

const FIGURE = "× few";
/** All items of these rows are alive at once. The garbage collector goes through them: half of the time of an aborted call. */
const ALIVE = ["waiting calls that are aborted", "paused tokens"];

export const growth: Measure = {
  title: `The CPU time of one item among ${MANY}, beside one among ${FEW}`,
  guards: Object.keys(ROWS).map(
    (client): Guard => ({ client, figure: FIGURE, atMost: ALIVE.includes(client) ? 3 : 1.5 }),
  ),
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
  const stopRedis = task.row === REDIS_ROW ? await startRedis() : undefined;
  const worker = new Part(new URL("worker.ts", import.meta.url), task);
  try {
    return await worker.next<Grown>();
  } finally {
    worker.stop();
    stopRedis?.();
  }
}

/** Starts a Redis that nobody used before. It has to be on the PATH. */
async function startRedis(): Promise<() => void> {
  const args = ["--port", String(REDIS_PORT), "--bind", "127.0.0.1", "--save", ""];
  const server = spawn("redis-server", args, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface(server.stdout)) if (line.includes("Ready to accept connections")) break;
  server.stdout.resume();
  return () => void server.kill();
}
