/** Many calls, one after the other, that are all given the same signal: a server's, which lives as long as the server. */

import { getEventListeners } from "node:events";
import { type Bench, entrants, round, type Section } from "../bench.ts";
import { TOKEN } from "../calls.ts";
import { compare, recorded } from "../comparison.ts";
import { BARE, connect, KY, OURS } from "../contenders.ts";
import { growthOf, settledHeap } from "../heap.ts";
import { race } from "../race.ts";
import { withService } from "../service.ts";
import { getSession } from "../work.ts";
import type { LapTask, RunLap } from "../worker.ts";

export const name = "signal";

const MOST_GROWTH_MB = 5;
/** What is loaded and compiled by then is nothing that the signal holds. */
const WARM_UP_CALLS = 2_000;
const LOOKS = 5;

export async function run(bench: Bench): Promise<Section[]> {
  bench.progress("long-lived signal");
  const calls = bench.quick ? 5_000 : 50_000;
  const laps = await withService({ items: 0, pageMs: 0 }, (origin) =>
    race({
      contenders: entrants([BARE, OURS, KY], bench, [BARE]),
      task: { measure: name, work: "get", origin, package: bench.package },
      calls,
      warmUp: 0,
      rounds: 1,
      heats: 1,
    }),
  );
  const figures = compare(laps, BARE);
  const ours = figures.get(OURS);
  return [
    {
      name,
      title: `${calls} calls, one after the other, with the same \`AbortSignal\``,
      note: "GET a session, over loopback. After 2 000 such calls the heap is looked at, and five times from there, after garbage collection; growth is what the last look shows beyond the lowest, in MB. Listeners are those on the signal at the end.",
      heading: ["", "heap growth", "listeners left", "peak"],
      rows: [...figures].map(([contender, { heapGrowthMb, listeners, peakRssMb }]) => [
        contender,
        round(heapGrowthMb.median),
        String(listeners.median),
        round(peakRssMb.median),
      ]),
      figures: recorded(figures, ["heapGrowthMb", "listeners", "peakRssMb"]),
      targets:
        ours === undefined
          ? []
          : [
              { what: "one signal: heap growth in MB", value: ours.heapGrowthMb.median, atMost: MOST_GROWTH_MB },
              { what: "one signal: listeners left", value: ours.listeners.median, atMost: 0 },
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
  const { signal } = new AbortController();
  for (let at = 0; at < WARM_UP_CALLS; at += 1) await getSession(calls, at, signal);
  return async (count) => {
    const heap = [await settledHeap()];
    for (let at = 1; at <= count; at += 1) {
      await getSession(calls, at, signal);
      if (at % (count / LOOKS) === 0) heap.push(await settledHeap());
    }
    return { listeners: getEventListeners(signal, "abort").length, heapGrowthMb: growthOf(heap) };
  };
}
