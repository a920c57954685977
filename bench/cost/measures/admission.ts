/** What the rate limiter itself costs for each call that stands in line, however many do. */

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Admission, Permit, RateLimiter } from "../../../dist/index.js";
import { type Bench, round, type Section } from "../bench.ts";
import { TOKEN } from "../calls.ts";
import { compare, recorded } from "../comparison.ts";
import { OURS } from "../contenders.ts";
import { race } from "../race.ts";
import type { Lap, LapTask, RunLap } from "../worker.ts";

export const name = "admission";

const LINES = [1_000, 10_000, 100_000];
const ADMISSIONS = 20_000;
/** Memory that is not in the caches costs something; a line that is searched would cost a hundred times as much. */
const MOST_TIMES_SHORT = 3;

export async function run(bench: Bench): Promise<Section[]> {
  bench.progress("admission");
  const laps = new Map<string, Lap[]>();
  for (const line of LINES) {
    const found = await race({
      contenders: [OURS],
      task: { measure: name, work: String(line), origin: "", package: bench.package },
      calls: ADMISSIONS,
      warmUp: ADMISSIONS,
      rounds: bench.quick ? 3 : 9,
      heats: bench.quick ? 1 : 3,
    });
    laps.set(`${line} in line`, found.get(OURS) ?? []);
  }
  const figures = compare(laps, `${LINES[0]} in line`);
  const longest = figures.get(`${LINES.at(-1)} in line`);
  return [
    {
      name,
      title: "The rate limiter: a call's way through the line",
      note: "`memoryRateLimiter()` with one slot and so many calls in line at any time: again and again the first is admitted, reports a response and gives the slot back, and another one enters. µs for each, medians.",
      heading: ["", "time", "× the shortest line"],
      rows: [...figures].map(([line, { threadUs, timesThread }]) => [
        line,
        round(threadUs.median),
        round(timesThread.median),
      ]),
      figures: recorded(figures),
      targets: [
        {
          what: `admission: ${LINES.at(-1)} in line, × ${LINES[0]} in line`,
          value: longest?.timesThread.median ?? Number.NaN,
          atMost: MOST_TIMES_SHORT,
        },
      ],
    },
  ];
}

export async function prepare(task: LapTask): Promise<RunLap> {
  const door = pathToFileURL(join(task.package, "dist/index.js")).href;
  const { memoryRateLimiter } = (await import(door)) as typeof import("../../../dist/index.js"); // another checkout's has that shape
  const limiter = memoryRateLimiter();
  const length = Number(task.work);
  // One more than there are in line: the first of all holds the only slot.
  const line = Array.from({ length: length + 1 }, () => enter(limiter));
  let first = 0;
  return async (admissions) => {
    for (let at = 0; at < admissions; at += 1) {
      const { permit, admission } = line[first] ?? enter(limiter);
      const { kind } = await admission;
      if (kind !== "admitted") throw new Error(`the first in line was ${kind}`);
      permit.report(SUCCESS);
      permit.release();
      line[first] = enter(limiter);
      first = (first + 1) % line.length;
    }
    return {};
  };
}

const SUCCESS = { status: 200, retryAfterMs: undefined, limit: 1_000_000, remaining: 999_999 };

interface Standing {
  readonly permit: Permit;
  readonly admission: Admission | Promise<Admission>;
}

/** A call as the client makes it, with a signal of its own, at the end of the line. */
function enter(limiter: RateLimiter): Standing {
  const permit = limiter.enter({
    token: () => TOKEN,
    maxConcurrency: 1,
    maxPauses: 1,
    maxPauseMs: 120_000,
    endsAt: Number.POSITIVE_INFINITY,
    signal: new AbortController().signal,
  });
  return { permit, admission: permit.acquire(TOKEN) };
}
