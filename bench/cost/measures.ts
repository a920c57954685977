/** The cost of calls and of walks, as data: which work, which clients, which figures, and what is promised of them. */

import { BARE, type ClientName, KEEPING, KY, KY_ZOD, OURS, PREFETCHING } from "../clients.ts";
import type { Measure } from "../support/results.ts";
import { type Figure, type Race, race } from "./race.ts";
import type { Lap } from "./worker.ts";
import { MEMORY_ITEMS, PREFETCH, WALKED } from "./works.ts";

type Costs = Omit<Race<ClientName>, "clients"> & Pick<Measure, "title" | "guards"> & { readonly others: ClientName[] };

const CALLERS: ClientName[] = ["openai", "octokit"];

const of = (client: ClientName, round: Readonly<Record<string, Lap>>): Lap =>
  round[client] ?? { wall: Number.NaN, thread: Number.NaN };
const ms =
  (per: number): Figure =>
  ({ wall }) =>
    wall / 1_000 / per;
const speedBeside =
  (client: ClientName): Figure =>
  (lap, round) =>
    of(client, round).wall / lap.wall;

/** Times of the thread: other programs on the machine do not add to them, and nothing is waited for. */
const perCall: Pick<Costs, "beside" | "others" | "calls" | "warmUp" | "rounds" | "heats" | "figures"> = {
  beside: [BARE, KY],
  others: [OURS, KY_ZOD, ...CALLERS],
  calls: 5_000,
  warmUp: 30_000, // the platform still compiles the code of some clients after 10 000
  rounds: 16,
  heats: 2,
  figures: {
    µs: (lap) => lap.thread,
    "µs over fetch": (lap, round) => lap.thread - of(BARE, round).thread,
    "× what ky adds": (lap, round) =>
      (lap.thread - of(BARE, round).thread) / (of(KY, round).thread - of(BARE, round).thread),
  },
};

const costs: Readonly<Record<string, Costs>> = {
  "per-call-get": { title: "A call in process: GET a session", work: "get", ...perCall },
  "per-call-post": { title: "A call in process: POST an issue", work: "post", ...perCall },
  loopback: {
    title: "A call over loopback: GET a session, one after the other",
    work: "loopback",
    beside: [BARE, KY],
    others: [OURS, KY_ZOD, ...CALLERS],
    service: { items: 0, pageMs: 0 },
    calls: 500,
    warmUp: 2_000,
    rounds: 16,
    heats: 2,
    figures: {
      µs: (lap) => lap.wall,
      "× ky": (lap, round) => lap.wall / of(KY, round).wall,
    },
    guards: [{ client: OURS, figure: "× ky", atMost: 1.2 }],
  },
  walk: {
    title: `A walk of ${WALKED} items in pages of 200, over loopback`,
    work: "walk",
    beside: [BARE, KY_ZOD],
    others: [OURS, PREFETCHING, KY],
    service: { items: WALKED, pageMs: 0 },
    calls: 1,
    warmUp: 1,
    rounds: 12,
    heats: 2,
    figures: { ms: ms(1), "speed × fetch": speedBeside(BARE), "speed × ky + zod": speedBeside(KY_ZOD) },
    guards: [{ client: OURS, figure: "speed × ky + zod", atLeast: 0.89 }],
  },
  prefetch: {
    title: `${PREFETCH.pages} pages: the service takes ${PREFETCH.pageMs} ms for each, and the reader as long`,
    work: "prefetch",
    beside: [BARE],
    others: [OURS, PREFETCHING],
    service: { items: PREFETCH.pages * 200, pageMs: PREFETCH.pageMs },
    calls: 1,
    warmUp: 0,
    rounds: 8,
    heats: 1,
    figures: { "ms a page": ms(PREFETCH.pages), "speed × fetch": speedBeside(BARE) },
    guards: [{ client: PREFETCHING, figure: "speed × fetch", atLeast: 1.68 }],
  },
  memory: {
    title: `Memory of a walk of ${MEMORY_ITEMS} items, in MB`,
    work: "memory",
    beside: [BARE],
    others: [OURS, PREFETCHING, KY_ZOD, KEEPING],
    service: { items: MEMORY_ITEMS, pageMs: 0 },
    calls: 1,
    warmUp: 0,
    rounds: 5,
    heats: 5, // a peak is that of a process: each walk has one of its own
    figures: {
      // The loader lets go of several MB of its own at some point, which must not hide what a client keeps.
      "heap growth": ({ heap = [] }) => (heap.at(-1) ?? Number.NaN) - Math.min(...heap.slice(0, -1)),
      peak: ({ peak = Number.NaN }) => peak,
      "peak × fetch": (lap, round) => (lap.peak ?? Number.NaN) / (of(BARE, round).peak ?? Number.NaN),
    },
    guards: [{ client: OURS, figure: "heap growth", atMost: 5 }],
  },
};

export const measures: Readonly<Record<string, Measure>> = Object.fromEntries(
  Object.entries(costs).map(([name, { title, guards = [], others, ...rest }]) => [
    name,
    { title, guards, run: (bench) => race({ ...rest, clients: [...rest.beside, ...others] }, bench) } satisfies Measure,
  ]),
);
