/** The herd: 300 issues created at once, while the service allows 50 requests per 2 s. Each client has its defaults. */

import type { ClientName } from "../clients.ts";
import { KY, LOOP, OURS } from "../clients.ts";
import { Part, withService } from "../support/process.ts";
import { type Bench, entrants, type Figures, type Measure } from "../support/results.ts";
import type { Endings, HerdTask } from "./client.ts";
import type { Listening, Report } from "./service.ts";

const CALLS = 300;
/** Then a client is stopped. */
const TIME_LIMIT_MS = 60_000;
/** The series counts requests in steps of so long. */
const STEP_MS = 100;

const CLIENTS: ClientName[] = [OURS, "@slack/web-api", LOOP, KY, "ky + p-retry", "openai"];

export const herd: Measure = {
  title: `${CALLS} issues created at once, the service allows 50 requests per 2 s; each client with its defaults`,
  guards: [
    { client: OURS, figure: "succeeded", atLeast: CALLS },
    { client: OURS, figure: "refused", atMost: 20 },
    { client: OURS, figure: "duplicates", atMost: 0 },
    { client: OURS, figure: "seconds", atMost: 13 },
  ],
  async run(bench) {
    const figures: Record<string, Figures[string]> = {};
    for (const name of entrants(CLIENTS, bench)) figures[name] = await measure(name, bench);
    return figures;
  },
};

/** Runs one client against a service that nobody used before. */
async function measure(entrant: string, { packages, quick }: Bench): Promise<Figures[string]> {
  const module = new URL("service.ts", import.meta.url);
  return withService<Listening, Figures[string]>([module, { folder: packages[0] }], async (listening, service) => {
    const timeLimitMs = quick ? 15_000 : TIME_LIMIT_MS;
    const task: HerdTask = { entrant, packages, service: listening, calls: CALLS, timeLimitMs };
    const client = new Part(new URL("client.ts", import.meta.url), task);
    const endings = await client.next<Endings>();
    client.stop();
    service.tell("report");
    const { requests, titles } = await service.next<Report>();
    const duplicates = titles.length - new Set(titles).size;
    const refused = requests.filter((request) => request.refused).length;
    return { ...endings, requests: requests.length, refused, duplicates, series: seriesOf(requests) };
  });
}

/** Returns `[step, accepted, refused]` of each step in which a request came. */
function seriesOf(requests: Report["requests"]): number[][] {
  const [first = { at: 0 }] = requests;
  const steps = new Map<number, [accepted: number, refused: number]>();
  for (const { at, refused } of requests) {
    const step = Math.floor((at - first.at) / STEP_MS);
    const counts = steps.get(step) ?? [0, 0];
    counts[refused ? 1 : 0] += 1;
    steps.set(step, counts);
  }
  return [...steps].map(([step, counts]) => [step, ...counts]);
}
