/** The bucket: a proxy that says neither what is left nor, in one of the two, how long to wait. */

import { KY_RETRYING, OPENAI_RETRYING, OURS } from "../clients.ts";
import { Part } from "../support/process.ts";
import { type Bench, entrants, type Found, type Guard, type Measure } from "../support/results.ts";
import type { BucketTask, Endings } from "./client.ts";
import { models } from "./models.ts";
import type { BucketOptions, Listening, Report } from "./service.ts";

const CALLS = 200;
const WIDE = 10;
const PER_SECOND = 20;
/** The rate is that of the last so many rows. */
const LAST = 100;

const guards: readonly Guard[] = [
  { figure: "succeeded", atLeast: CALLS },
  { figure: "duplicates", atMost: 0 },
  { figure: "lastPerSecond", atLeast: PER_SECOND / 2 },
];

export const buckets: Readonly<Record<string, Measure>> = {
  bucket: measureOf("a 429 without Retry-After", undefined),
  "bucket-retry-after": measureOf("a 429 with Retry-After: 1", 1),
  "bucket-models": models,
};

function measureOf(what: string, retryAfter: number | undefined): Measure {
  return {
    title: `${CALLS} issues, ${WIDE} at a time, through a leaky bucket of ${PER_SECOND} a second without burst; ${what}`,
    guards,
    async run(bench) {
      const figures: Record<string, Found> = {};
      for (const name of entrants([OURS, KY_RETRYING, OPENAI_RETRYING], bench)) {
        figures[name] = await measure(name, bench, { perSecond: PER_SECOND, retryAfter });
      }
      return figures;
    },
  };
}

/** Runs one client against a bucket that nobody used before. */
async function measure(entrant: string, { packages }: Bench, options: BucketOptions): Promise<Found> {
  const service = new Part(new URL("service.ts", import.meta.url), options);
  const task: BucketTask = { calls: CALLS, wide: WIDE, entrant, packages, service: await service.next<Listening>() };
  const client = new Part(new URL("client.ts", import.meta.url), task);
  const endings = await client.next<Endings>();
  client.stop();
  service.tell("report");
  const { accepted, refused, titles } = await service.next<Report>();
  service.stop();
  const last = accepted.slice(-LAST);
  const [from = 0, to = from] = [last[0], last.at(-1)];
  return {
    ...endings,
    refused,
    duplicates: titles.length - new Set(titles).size,
    lastPerSecond: Number((((last.length - 1) * 1_000) / (to - from)).toFixed(1)),
  };
}
