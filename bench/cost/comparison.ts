/** The laps of all contenders beside those of one of them. */

import { pairwise, type Spread, spreadOf } from "../support/statistics.ts";
import type { Lap } from "./worker.ts";

export interface Comparison {
  readonly wallUs: Spread;
  readonly cpuUs: Spread;
  /** Wall time beyond the base's of the same round. */
  readonly overUs: Spread;
  /** Times, as multiples of the base's of the same round. */
  readonly timesWall: Spread;
  readonly timesCpu: Spread;
  readonly heapGrowthMb: Spread;
  readonly peakRssMb: Spread;
  readonly timesPeakRss: Spread;
  readonly listeners: Spread;
}

export function compare(laps: ReadonlyMap<string, readonly Lap[]>, base: string): Map<string, Comparison> {
  const of = (name: string, figure: keyof Lap): number[] => (laps.get(name) ?? []).map((lap) => lap[figure]);
  const times = (name: string, figure: keyof Lap): Spread =>
    pairwise(of(name, figure), of(base, figure), (value, floor) => value / floor);
  return new Map(
    [...laps.keys()].map((name) => [
      name,
      {
        wallUs: spreadOf(of(name, "wallUs")),
        cpuUs: spreadOf(of(name, "cpuUs")),
        overUs: pairwise(of(name, "wallUs"), of(base, "wallUs"), (value, floor) => value - floor),
        timesWall: times(name, "wallUs"),
        timesCpu: times(name, "cpuUs"),
        heapGrowthMb: spreadOf(of(name, "heapGrowthMb")),
        peakRssMb: spreadOf(of(name, "peakRssMb")),
        timesPeakRss: times(name, "peakRssMb"),
        listeners: spreadOf(of(name, "listeners")),
      },
    ]),
  );
}
