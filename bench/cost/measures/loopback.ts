/** What a call costs over loopback, one after the other, with the server in a process of its own. */

import { type Bench, entrants, round, type Section, spread } from "../bench.ts";
import { TOKEN } from "../calls.ts";
import { compare, recorded } from "../comparison.ts";
import { BARE, CALLERS, connect, KY, OURS } from "../contenders.ts";
import { race } from "../race.ts";
import { withService } from "../service.ts";
import { getSession } from "../work.ts";
import type { LapTask, RunLap } from "../worker.ts";

export const name = "loopback";

const MOST_TIMES_KY = { time: 1.2, cpu: 1.15 } as const;

export async function run(bench: Bench): Promise<Section[]> {
  bench.progress("over loopback");
  const laps = await withService({ items: 0, pageMs: 0 }, (origin) =>
    race({
      contenders: entrants(CALLERS, bench, [BARE, KY]),
      task: { measure: name, work: "get", origin, package: bench.package },
      calls: bench.quick ? 250 : 500,
      warmUp: bench.quick ? 800 : 2_000,
      rounds: bench.quick ? 5 : 16,
      heats: bench.quick ? 1 : 2,
    }),
  );
  const figures = compare(laps, KY);
  const ours = figures.get(OURS);
  return [
    {
      name,
      title: "Over loopback: GET a session, one after the other",
      note: "The server is a process of its own; CPU is the client's. µs, medians; quartiles in brackets.",
      heading: ["", "wall", "× ky", "CPU", "× ky"],
      rows: [...figures].map(([contender, { wallUs, timesWall, cpuUs, timesCpu }]) => [
        contender,
        round(wallUs.median),
        spread(timesWall),
        round(cpuUs.median),
        spread(timesCpu),
      ]),
      figures: recorded(figures),
      targets:
        ours === undefined
          ? []
          : [
              { what: "loopback: time, × ky", value: ours.timesWall.median, atMost: MOST_TIMES_KY.time },
              { what: "loopback: CPU, × ky", value: ours.timesCpu.median, atMost: MOST_TIMES_KY.cpu },
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
  return async (count) => {
    for (let at = 0; at < count; at += 1) await getSession(calls, at);
    return {};
  };
}
