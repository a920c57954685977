/** Queues: what a call costs that waits among very many, beside one that waits among a tenth of them. */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Part } from "../support/process.ts";
import type { Figures, Found, Guard, Measure } from "../support/results.ts";
import { spreadOf } from "../support/results.ts";
import type { Queued, QueueTask } from "./client.ts";

const WORKS: Readonly<Record<string, Queued>> = {
  calls: { many: 100_000 },
  "calls, maxConcurrency 1,000": { many: 100_000, maxConcurrency: 1_000 },
  "calls, a pause in the middle": { many: 100_000, pauses: true },
  walks: { many: 10_000, walks: true },
  "calls, redisRateLimiter": { many: 10_000, redis: true },
};
const REDIS_PORT = 16_399;
const FIGURE = "× a tenth of them";

export const queue: Measure = {
  title: "Many calls at once: CPU time of one, beside one of a tenth as many",
  guards: Object.keys(WORKS).map((client): Guard => ({ client, figure: FIGURE, atMost: 2 })),
  async run({ packages, quick }) {
    const [folder = ""] = packages;
    const figures: Record<string, Found> = {};
    for (const [name, queued] of Object.entries(WORKS)) {
      const rounds: { few: number; many: number }[] = [];
      for (let round = 0; round < (quick ? 1 : 3); round += 1) {
        const few = await microseconds({ folder, queued, count: queued.many / 10 });
        rounds.push({ few, many: await microseconds({ folder, queued, count: queued.many }) });
      }
      figures[name] = {
        "µs among a tenth": spreadOf(rounds.map(({ few }) => few)),
        "µs among all": spreadOf(rounds.map(({ many }) => many)),
        [FIGURE]: spreadOf(rounds.map(({ few, many }) => many / few)),
      };
    }
    return figures satisfies Figures;
  },
};

async function microseconds(task: Omit<QueueTask, "port">): Promise<number> {
  const stopRedis = task.queued.redis ? await startRedis() : undefined;
  const port = stopRedis && REDIS_PORT;
  const client = new Part(new URL("client.ts", import.meta.url), { ...task, port } satisfies QueueTask);
  try {
    return (await client.next<{ µs: number }>()).µs;
  } finally {
    client.stop();
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
