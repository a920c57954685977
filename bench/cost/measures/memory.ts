/** What a walk over a million items leaves behind, and how much memory it takes on the way. */

import { type Bench, entrants, round, type Section, spread } from "../bench.ts";
import { type Calls, TOKEN } from "../calls.ts";
import { compare, recorded } from "../comparison.ts";
import { BARE, connect, KY_ZOD, OURS, PREFETCHING } from "../contenders.ts";
import { growthOf, peakRss, settledHeap } from "../heap.ts";
import { race } from "../race.ts";
import { withService } from "../service.ts";
import { walk } from "../work.ts";
import type { LapTask, RunLap } from "../worker.ts";

export const name = "memory";

const ITEMS = 1_000_000;
const PAGE = 200;
const PAGES_A_LOOK = 500;
const MOST_GROWTH_MB = 5;
const MOST_TIMES_PEAK = 1.25;

export async function run(bench: Bench): Promise<Section[]> {
  bench.progress("memory");
  const laps = await withService({ items: ITEMS, pageMs: 0 }, (origin) =>
    race({
      contenders: entrants([BARE, OURS, PREFETCHING, KY_ZOD], bench, [BARE]),
      task: { measure: name, work: "walk", origin, package: bench.package },
      calls: 1,
      warmUp: 0,
      rounds: bench.quick ? 1 : 5,
      heats: bench.quick ? 1 : 5, // a peak is a process's: each walk has one of its own
    }),
  );
  const figures = compare(laps, BARE);
  return [
    {
      name,
      title: "Memory: a walk of 1 000 000 items in pages of 200, over loopback",
      note: "The peak is the resident set of the process, which does nothing else. In a second walk the heap is looked at every 100 000 items, after garbage collection; growth is what the last look shows beyond the lowest. MB, medians.",
      heading: ["", "heap growth", "peak", "× fetch"],
      rows: [...figures].map(([contender, { heapGrowthMb, peakRssMb, timesPeakRss }]) => [
        contender,
        round(heapGrowthMb.median),
        round(peakRssMb.median),
        spread(timesPeakRss),
      ]),
      figures: recorded(figures, ["heapGrowthMb", "peakRssMb", "timesPeakRss"]),
      targets: [OURS, PREFETCHING].flatMap((contender) => {
        const found = figures.get(contender);
        if (found === undefined) return [];
        return [
          { what: `memory, ${contender}: heap growth in MB`, value: found.heapGrowthMb.median, atMost: MOST_GROWTH_MB },
          { what: `memory, ${contender}: peak, × fetch`, value: found.timesPeakRss.median, atMost: MOST_TIMES_PEAK },
        ];
      }),
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
  return async () => {
    await walk(calls, ITEMS, { pageSize: PAGE });
    // The peak is that of a walk which nobody looks into; guarded collects.
    return { peakRssMb: peakRss(), heapGrowthMb: await growth(calls) };
  };
}

async function growth(calls: Calls): Promise<number> {
  const looks: number[] = [];
  const look = async (): Promise<void> => {
    looks.push(await settledHeap());
  };
  let pages = 0;
  const afterPage = (): Promise<void> | undefined => {
    pages += 1;
    return pages % PAGES_A_LOOK === 0 ? look() : undefined;
  };
  await walk(calls, ITEMS, { pageSize: PAGE, afterPage });
  return growthOf(looks);
}
