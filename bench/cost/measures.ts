/** The cost of calls and of walks, as data: which work, which clients, which figures, and what is promised of them. */

import { BARE, type ClientName, KEEPING, KY, KY_ZOD, OURS, PREFETCHING, STACK } from "../clients.ts";
import type { Measure } from "../support/results.ts";
import { type Race, type Round, race } from "./race.ts";
import type { Lap } from "./worker.ts";
import { MANY, PREFETCH, WALKED } from "./works.ts";

type Cost = Race & Pick<Measure, "title" | "guards"> & { readonly clients: readonly ClientName[] };

const of = (client: ClientName, round: Round): Lap =>
  round[client] ?? { wall: Number.NaN, thread: Number.NaN, heap: [] };
const speedBeside = (client: ClientName) => (lap: Lap, round: Round) => of(client, round).wall / lap.wall;
const over = (lap: Lap, round: Round): number => lap.thread - of(BARE, round).thread;

/** Times of the thread: other programs on the machine do not add to them, and nothing is waited for. */
const perCall: Omit<Cost, "title" | "work"> = {
  clients: [BARE, KY, KY_ZOD, STACK, "octokit", "openai", OURS],
  service: { items: 0, pageMs: 0 },
  calls: 5_000,
  warmUp: 60_000, // the platform still compiles the code of some clients after 30 000
  rounds: 16,
  figures: {
    µs: (lap) => lap.thread,
    "µs over fetch": over,
    "× what ky adds": (lap, round) => over(lap, round) / over(of(KY, round), round),
    "× what the stack adds": (lap, round) => over(lap, round) / over(of(STACK, round), round),
  },
};

const costs: Readonly<Record<string, Cost>> = {
  "per-call-get": { title: "A call in process: GET a session", work: "get", ...perCall },
  "per-call-post": { title: "A call in process: POST an issue", work: "post", ...perCall },
  loopback: {
    ...perCall,
    title: "A call over loopback: GET a session, one after the other",
    work: "loopback",
    calls: 500,
    warmUp: 2_000,
    figures: { µs: (lap) => lap.wall, "× ky": (lap, round) => lap.wall / of(KY, round).wall },
    guards: [{ figure: "× ky", atMost: 1.35 }],
  },
  walk: {
    title: `A walk of ${WALKED} items in pages of 200, over loopback`,
    work: "walk",
    clients: [BARE, KY, KY_ZOD, OURS, PREFETCHING],
    service: { items: WALKED, pageMs: 0 },
    calls: 1,
    warmUp: 1,
    rounds: 12,
    figures: {
      ms: (lap) => lap.wall / 1_000,
      "speed × fetch": speedBeside(BARE),
      "speed × ky + zod": speedBeside(KY_ZOD),
    },
    guards: [{ figure: "speed × ky + zod", atLeast: 0.86 }],
  },
  prefetch: {
    title: `${PREFETCH.pages} pages: the service takes ${PREFETCH.pageMs} ms for each, and the reader as long`,
    work: "prefetch",
    clients: [BARE, OURS, PREFETCHING],
    service: { items: PREFETCH.pages * 200, pageMs: PREFETCH.pageMs },
    calls: 1,
    warmUp: 1,
    rounds: 8,
    figures: { "ms a page": (lap) => lap.wall / 1_000 / PREFETCH.pages, "speed × fetch": speedBeside(BARE) },
    guards: [{ client: PREFETCHING, figure: "speed × fetch", atLeast: 1.6 }],
  },
  memory: {
    title: `The heap in MB during a walk of ${MANY} items: its last look, less the lowest before`,
    work: "memory",
    clients: [BARE, KEEPING, KY_ZOD, OURS, PREFETCHING],
    service: { items: MANY, pageMs: 0 },
    calls: 1,
    warmUp: 1, // the loader lets go of several MB of its own at some point
    rounds: 4,
    figures: { "heap growth": ({ heap }) => (heap.at(-1) ?? Number.NaN) - Math.min(...heap.slice(0, -1)) },
    guards: [{ figure: "heap growth", atMost: 5 }],
  },
};

export const measures: Readonly<Record<string, Measure>> = Object.fromEntries(
  Object.entries(costs).map(([name, cost]) => [name, { ...cost, run: (bench) => race(cost, bench) } satisfies Measure]),
);
