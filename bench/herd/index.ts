/** The herd: 300 issues created at once, while the service allows 50 requests per 2 s. Each client has its defaults. */

import { type ClientName, KY, LOOP, OURS } from "../clients.ts";
import { Part } from "../support/process.ts";
import { type Bench, entrants, type Figures, type Found, type Measure } from "../support/results.ts";
import type { Endings, HerdTask } from "./client.ts";
import type { Listening, Report } from "./service.ts";

const CALLS = 300;
/** The series counts requests in steps of so long. */
const STEP_MS = 100;
const CLIENTS: ClientName[] = [OURS, "@slack/web-api", LOOP, KY, "openai"];

export const herd: Measure = {
  title: `${CALLS} issues created at once, the service allows 50 requests per 2 s; each client with its defaults`,
  guards: [
    { figure: "succeeded", atLeast: CALLS },
    { figure: "refused", atMost: 6 },
    { figure: "duplicates", atMost: 0 },
    { figure: "seconds", atMost: 11 },
  ],
  async run(bench) {
    const figures: Record<string, Found> = {};
    for (const name of entrants(CLIENTS, bench)) figures[name] = await measure(name, bench);
    return figures satisfies Figures;
  },
};

/** Runs one client against a service that nobody used before. */
async function measure(entrant: string, { packages }: Bench): Promise<Found> {
  const service = new Part(new URL("service.ts", import.meta.url), { folder: packages[0] });
  const task: HerdTask = { calls: CALLS, entrant, packages, service: await service.next<Listening>() };
  const client = new Part(new URL("client.ts", import.meta.url), task);
  const endings = await client.next<Endings>();
  client.stop();
  service.tell("report");
  const { requests, titles } = await service.next<Report>();
  service.stop();
  return {
    ...endings,
    requests: requests.length,
    refused: requests.filter((request) => request.refused).length,
    duplicates: titles.length - new Set(titles).size,
    series: seriesOf(requests),
  };
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
