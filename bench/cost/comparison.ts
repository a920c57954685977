/** The laps of all contenders beside those of one of them. */

import { pairwise, type Spread, spreadOf } from "../support/statistics.ts";
import type { Lap } from "./worker.ts";

export interface Comparison {
  readonly wallUs: Spread;
  readonly cpuUs: Spread;
  readonly threadUs: Spread;
  /** Time of the thread beyond the base's of the same round. */
  readonly overUs: Spread;
  /** Times, as multiples of the base's of the same round. */
  readonly timesWall: Spread;
  readonly timesCpu: Spread;
  readonly timesThread: Spread;
  readonly heapGrowthMb: Spread;
  readonly peakRssMb: Spread;
  readonly timesPeakRss: Spread;
  readonly listeners: Spread;
}

export function compare(laps: ReadonlyMap<string, readonly Lap[]>, base: string): Map<string, Comparison> {
  const of = (name: string, figure: keyof Lap): number[] =>
    (laps.get(name) ?? []).map((lap) => lap[figure] ?? Number.NaN);
  const times = (name: string, figure: keyof Lap): Spread =>
    pairwise(of(name, figure), of(base, figure), (value, floor) => value / floor);
  return new Map(
    [...laps.keys()].map((name) => [
      name,
      {
        wallUs: spreadOf(of(name, "wallUs")),
        cpuUs: spreadOf(of(name, "cpuUs")),
        threadUs: spreadOf(of(name, "threadUs")),
        overUs: pairwise(of(name, "threadUs"), of(base, "threadUs"), (value, floor) => value - floor),
        timesWall: times(name, "wallUs"),
        timesCpu: times(name, "cpuUs"),
        timesThread: times(name, "threadUs"),
        heapGrowthMb: spreadOf(of(name, "heapGrowthMb")),
        peakRssMb: spreadOf(of(name, "peakRssMb")),
        timesPeakRss: times(name, "peakRssMb"),
        listeners: spreadOf(of(name, "listeners")),
      },
    ]),
  );
}

/** For the results: what was measured, or only those figures that mean something. */
export function recorded(
  comparisons: ReadonlyMap<string, Comparison>,
  only?: readonly (keyof Comparison)[],
): Record<string, Partial<Comparison>> {
  const means = (figure: string, { median }: Spread): boolean =>
    !Number.isNaN(median) && (only === undefined || only.some((name) => name === figure));
  return Object.fromEntries(
    [...comparisons].map(([name, comparison]) => [
      name,
      Object.fromEntries(Object.entries(comparison).filter(([figure, found]) => means(figure, found))),
    ]),
  );
}
