/** 1 000 calls at once: through the client's rate limiter, and over ky with the same number in flight. */

import { type Bench, entrants, round, type Section, spread } from "../bench.ts";
import { type Calls, TOKEN } from "../calls.ts";
import { compare, recorded } from "../comparison.ts";
import { BARE, connect, KY, OURS } from "../contenders.ts";
import { race } from "../race.ts";
import { withService } from "../service.ts";
import { getSession } from "../work.ts";
import type { LapTask, RunLap } from "../worker.ts";

export const name = "concurrency";

const CALLS = 1_000;
/** Before these come two pilots of as many: 30 000 calls in all, since the platform compiles some code that late. */
const WARM_UP_LAPS = 10;
const MOST_TIMES_KY = 1.2;

export async function run(bench: Bench): Promise<Section[]> {
  const sections: Section[] = [];
  for (const concurrency of [10, CALLS]) {
    bench.progress(`${CALLS} calls at once, ${concurrency} in flight`);
    const laps = await withService({ items: 0, pageMs: 0 }, (origin) =>
      race({
        contenders: entrants([BARE, OURS, KY], bench, [KY]),
        task: { measure: name, work: String(concurrency), origin, package: bench.package },
        calls: 1,
        warmUp: WARM_UP_LAPS,
        rounds: bench.quick ? 5 : 16,
        heats: bench.quick ? 1 : 2,
      }),
    );
    const figures = compare(laps, KY);
    const ours = figures.get(OURS);
    sections.push({
      name: `${name}-${concurrency}`,
      title: `1 000 calls at once, ${concurrency} of them in flight, over loopback`,
      note: `GET a session. Our client is given all calls and \`maxConcurrency: ${concurrency}\`; the others are called by ${concurrency} loops. µs a call, medians; quartiles in brackets.`,
      heading: ["", "CPU", "× ky", "wall", "× ky"],
      rows: [...figures].map(([contender, { wallUs, timesWall, cpuUs, timesCpu }]) => [
        contender,
        round(cpuUs.median / CALLS),
        spread(timesCpu),
        round(wallUs.median / CALLS),
        spread(timesWall),
      ]),
      figures: recorded(figures),
      targets:
        ours === undefined
          ? []
          : [{ what: `${concurrency} in flight: CPU, × ky`, value: ours.timesCpu.median, atMost: MOST_TIMES_KY }],
    });
  }
  return sections;
}

export async function prepare(task: LapTask): Promise<RunLap> {
  const { origin, contender, package: folder } = task;
  const concurrency = Number(task.work);
  const calls = await connect(contender, { origin, token: TOKEN, fetch: undefined, package: folder, concurrency });
  const keepsWithin = contender.startsWith(OURS);
  return async (times) => {
    for (let at = 0; at < times; at += 1) await together(calls, CALLS, keepsWithin ? CALLS : concurrency);
    return {};
  };
}

/** So many calls by so many loops; with as many loops as calls, all at once. */
async function together(calls: Calls, count: number, loops: number): Promise<void> {
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await getSession(calls, next - 1);
    }
  };
  await Promise.all(Array.from({ length: loops }, loop));
}
