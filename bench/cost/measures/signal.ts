/**
 * Many calls that are all given the same signal: one after the other, with that of a server, which lives as long as the
 * server; and at once, with that of a job that is aborted while all of them are pending.
 */

import { getEventListeners, setMaxListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { type Bench, entrants, round, type Section } from "../bench.ts";
import { TOKEN } from "../calls.ts";
import { compare, recorded } from "../comparison.ts";
import { BARE, connect, KY, OURS } from "../contenders.ts";
import { growthOf, settledHeap } from "../heap.ts";
import { race } from "../race.ts";
import { withService } from "../service.ts";
import { getSession } from "../work.ts";
import type { Lap, LapTask, RunLap } from "../worker.ts";

export const name = "signal";

const MOST_GROWTH_MB = 5;
/** What is loaded and compiled by then is nothing that the signal holds. */
const WARM_UP_CALLS = 2_000;
const LOOKS = 5;

/** Pending calls on one signal: a few and many, to see whether the cost of one grows with their number. */
const FEW = 2_500;
const MANY = 20_000;
const MOST_TIMES_A_CALL = 3;

export async function run(bench: Bench): Promise<Section[]> {
  return [await oneAfterTheOther(bench), await atOnce(bench)];
}

async function atOnce(bench: Bench): Promise<Section> {
  bench.progress("aborted signal");
  const raceOf = (calls: number): Promise<Map<string, Lap[]>> =>
    race({
      contenders: entrants([OURS, KY], bench, [OURS]),
      task: { measure: name, work: "abort", origin: "http://127.0.0.1:9", package: bench.package },
      calls,
      warmUp: 0,
      rounds: bench.quick ? 3 : 9,
      heats: 1,
    });
  const [few, many] = [compare(await raceOf(FEW), OURS), compare(await raceOf(MANY), OURS)];
  const ratioOf = (contender: string): number =>
    (many.get(contender)?.threadUs.median ?? Number.NaN) / (few.get(contender)?.threadUs.median ?? Number.NaN);
  return {
    name: `${name}-abort`,
    title: `${MANY} pending calls with the same \`AbortSignal\`, which is aborted`,
    note: `No network: \`fetch\` never resolves. Time of the thread from the first call until all have rejected, per call in µs, with ${FEW} and with ${MANY} calls. Listeners are those on the signal while all calls are pending.`,
    heading: ["", `of ${FEW}`, `of ${MANY}`, "×", "listeners"],
    rows: [...many].map(([contender, { threadUs, listeners }]) => [
      contender,
      round(few.get(contender)?.threadUs.median ?? Number.NaN),
      round(threadUs.median),
      round(ratioOf(contender)),
      String(listeners.median),
    ]),
    figures: recorded(many, ["threadUs", "listeners"]),
    targets: [
      { what: "aborted signal: times the cost of a call", value: ratioOf(OURS), atMost: MOST_TIMES_A_CALL },
      { what: "aborted signal: listeners", value: many.get(OURS)?.listeners.median ?? Number.NaN, atMost: 1 },
    ],
  };
}

async function oneAfterTheOther(bench: Bench): Promise<Section> {
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
  return {
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
  };
}

export async function prepare(task: LapTask): Promise<RunLap> {
  return task.work === "abort" ? prepareAbort(task) : prepareCalls(task);
}

async function prepareAbort({ contender, origin, package: checkout }: LapTask): Promise<RunLap> {
  const fetch = (): Promise<Response> => new Promise(() => {});
  const calls = await connect(contender, { origin, token: TOKEN, fetch, package: checkout });
  return async (count) => {
    const controller = new AbortController();
    setMaxListeners(0, controller.signal); // a warning of Node's is not what is measured
    const pending = Array.from({ length: count }, (_, at) =>
      getSession(calls, at, controller.signal).then(
        () => Promise.reject(new Error("a call resolved that nothing responded to")),
        () => {},
      ),
    );
    await turn();
    const listeners = getEventListeners(controller.signal, "abort").length;
    controller.abort();
    await Promise.all(pending);
    return { listeners };
  };
}

async function prepareCalls(task: LapTask): Promise<RunLap> {
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
