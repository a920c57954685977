/** Asking ahead: the service takes 5 ms for a page, and whoever reads takes 5 ms for what is on it. */

import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { type Bench, entrants, round, type Section, spread } from "../bench.ts";
import { TOKEN } from "../calls.ts";
import { compare, recorded } from "../comparison.ts";
import { BARE, connect, OURS, PREFETCHING } from "../contenders.ts";
import { race } from "../race.ts";
import { withService } from "../service.ts";
import { checkWalk, getSession, walk } from "../work.ts";
import type { LapTask, RunLap } from "../worker.ts";

export const name = "prefetch";

const PAGES = 40;
const PAGE = 200;
const BUSY_MS = 5;
/** Its walks are too few to warm anything up. */
const WARM_UP_CALLS = 2_000;
const LEAST_SPEED = 1.72;
const WORKS = { waits: "waits", computes: "computes" } as const;

export async function run(bench: Bench): Promise<Section[]> {
  const sections: Section[] = [];
  for (const work of Object.values(WORKS)) {
    bench.progress(`prefetch, the reader ${work}`);
    const laps = await withService({ items: PAGES * PAGE, pageMs: BUSY_MS }, (origin) =>
      race({
        contenders: entrants([BARE, OURS, PREFETCHING], bench, [BARE]),
        task: { measure: name, work, origin, package: bench.package },
        calls: 1,
        warmUp: 0,
        rounds: bench.quick ? 3 : 7,
        heats: 1,
      }),
    );
    const figures = compare(laps, BARE);
    const prefetching = figures.get(PREFETCHING);
    sections.push({
      name: `${name}-${work}`,
      title: `Prefetch: ${PAGES} pages, ${BUSY_MS} ms of service each, and then the reader ${work} for ${BUSY_MS} ms`,
      note: "Speed is that of a loop over `fetch` and `json()`, by hand, as 1; 2 would be all there is to gain.",
      heading: ["", "ms a page", "speed"],
      rows: [...figures].map(([contender, { wallUs, timesWall }]) => [
        contender,
        round(wallUs.median / 1_000 / PAGES),
        spread({ median: 1 / timesWall.median, low: 1 / timesWall.high, high: 1 / timesWall.low }),
      ]),
      figures: recorded(figures),
      targets:
        // Who computes lets nothing be sent meanwhile, unless it was sent before: that is shown, not promised.
        prefetching === undefined || work === WORKS.computes
          ? []
          : [
              {
                what: `prefetch, the reader ${work}: speed of the loop by hand`,
                value: 1 / prefetching.timesWall.median,
                atLeast: LEAST_SPEED,
              },
            ],
    });
  }
  return sections;
}

export async function prepare(task: LapTask): Promise<RunLap> {
  const calls = await connect(task.contender, {
    origin: task.origin,
    token: TOKEN,
    fetch: undefined,
    package: task.package,
  });
  for (let at = 0; at < WARM_UP_CALLS; at += 1) await getSession(calls, at);
  const afterPage = task.work === WORKS.waits ? () => delay(BUSY_MS) : spin;
  await checkWalk(calls, PAGES * PAGE, PAGE);
  return async (walks) => {
    for (let at = 0; at < walks; at += 1) await walk(calls, PAGES * PAGE, { pageSize: PAGE, afterPage });
    return {};
  };
}

/** Keeps the thread busy, so that nothing else happens in it meanwhile. */
function spin(): undefined {
  const until = performance.now() + BUSY_MS;
  while (performance.now() < until);
}
