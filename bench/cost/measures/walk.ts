/** Long lists: 100 000 items in pages of 200, over loopback, by each client's own way of following pages. */

import { type Bench, entrants, round, type Section, spread } from "../bench.ts";
import { TOKEN } from "../calls.ts";
import { compare, recorded } from "../comparison.ts";
import { BARE, connect, KY, KY_ZOD, OURS, PAGED, PEERS, PREFETCHING } from "../contenders.ts";
import { race } from "../race.ts";
import { withService } from "../service.ts";
import { checkWalk, walk } from "../work.ts";
import type { LapTask, RunLap } from "../worker.ts";

export const name = "walk";

const ITEMS = 100_000;
const PAGE = 200;
/** Items per second, over those of a loop with ky and zod. */
const LEAST_SPEED = 0.95;
const WALKERS = [BARE, OURS, PAGED, PREFETCHING, KY, KY_ZOD, ...PEERS];

export async function run(bench: Bench): Promise<Section[]> {
  bench.progress("walks");
  const laps = await withService({ items: ITEMS, pageMs: 0 }, (origin) =>
    race({
      contenders: entrants(WALKERS, bench, [BARE]),
      task: { measure: name, work: "walk", origin, package: bench.package },
      calls: 1,
      warmUp: bench.quick ? 0 : 1,
      rounds: bench.quick ? 3 : 12,
      heats: bench.quick ? 1 : 2,
    }),
  );
  const figures = compare(laps, BARE);
  const ours = figures.get(OURS);
  const plain = figures.get(KY_ZOD);
  return [
    {
      name,
      title: "Walk of 100 000 items in pages of 200, over loopback",
      note: "Every item is visited. Speed is that of a loop over `fetch` and `json()`, by hand, which checks nothing, as 1. Medians; quartiles in brackets.",
      heading: ["", "ms", "speed", "CPU ms", "× fetch"],
      rows: [...figures].map(([contender, { wallUs, timesWall, cpuUs, timesCpu }]) => [
        contender,
        round(wallUs.median / 1_000),
        // The slowest quarter of the rounds is the lower end of a speed.
        spread({ median: 1 / timesWall.median, low: 1 / timesWall.high, high: 1 / timesWall.low }),
        round(cpuUs.median / 1_000),
        round(timesCpu.median),
      ]),
      figures: recorded(figures),
      targets:
        ours === undefined || plain === undefined
          ? []
          : [
              {
                what: "walk: speed, × a loop with ky and zod",
                value: plain.timesWall.median / ours.timesWall.median,
                atLeast: LEAST_SPEED,
              },
            ],
    },
  ];
}

export async function prepare(task: LapTask): Promise<RunLap> {
  const calls = await connect(task.contender, {
    origin: task.origin,
    token: TOKEN,
    fetch: undefined,
    package: task.package,
  });
  await checkWalk(calls, ITEMS, PAGE);
  return async (walks) => {
    for (let at = 0; at < walks; at += 1) await walk(calls, ITEMS, { pageSize: PAGE });
    return {};
  };
}
