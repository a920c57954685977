/**
 * Clients in processes of their own, which take turns, one lap each in a round, so that all of them meet the same load of
 * the machine. The first of a round changes.
 */

import { Part } from "../support/process.ts";
import { type Bench, entrants, type Figures, spreadOf } from "../support/results.ts";
import type { ServiceTask } from "./service.ts";
import type { Lap, LapTask } from "./worker.ts";

export type Round = Readonly<Record<string, Lap>>;

export interface Race {
  readonly work: LapTask["work"];
  readonly clients: readonly string[];
  readonly service: ServiceTask;
  /** Calls in a lap, and before the first lap counts. */
  readonly calls: number;
  readonly warmUp: number;
  readonly rounds: number;
  /** Figures of a lap, beside the laps of other clients in the same round. */
  readonly figures: Readonly<Record<string, (lap: Lap, round: Round) => number>>;
}

/** Sets of processes: how code is laid out in one is luck. */
const SETS = 4;

export async function race(race: Race, bench: Bench): Promise<Figures> {
  const service = new Part(new URL("service.ts", import.meta.url), race.service);
  try {
    const { port } = await service.next<{ port: number }>();
    const rounds: Round[] = [];
    for (let set = 0; set < (bench.quick ? 1 : SETS); set += 1) rounds.push(...(await run(race, bench, port)));
    return figuresOf(race.figures, rounds);
  } finally {
    service.stop();
  }
}

async function run({ work, clients, calls, warmUp, rounds }: Race, bench: Bench, port: number): Promise<Round[]> {
  const parts: [name: string, Part][] = [];
  const lapOf = (part: Part, count: number): Promise<Lap> => {
    part.tell(String(count));
    return part.next<Lap>();
  };
  try {
    for (const entrant of entrants(clients, bench)) {
      const task: LapTask = { work, entrant, packages: bench.packages, port };
      const part = new Part(new URL("worker.ts", import.meta.url), task);
      parts.push([entrant, part]);
      await part.next();
      await lapOf(part, warmUp);
    }
    const found: Round[] = [];
    for (let at = 0; at < Math.ceil(rounds / SETS); at += 1) {
      const round: Record<string, Lap> = {};
      const first = at % parts.length;
      for (const [name, part] of [...parts.slice(first), ...parts.slice(0, first)]) {
        round[name] = await lapOf(part, calls);
      }
      found.push(round);
    }
    return found;
  } finally {
    for (const [, part] of parts) part.stop();
  }
}

function figuresOf(figures: Race["figures"], rounds: readonly Round[]): Figures {
  const names = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(
    names.map((name) => {
      const laps = rounds.flatMap((round) => (round[name] === undefined ? [] : [{ lap: round[name], round }]));
      const spreads = Object.entries(figures).map(([figure, of]) => [
        figure,
        spreadOf(laps.map(({ lap, round }) => of(lap, round))),
      ]);
      const heap = laps[0]?.lap.heap.map((_, look) => spreadOf(laps.map(({ lap }) => lap.heap[look] ?? 0))[1]);
      return [name, { ...Object.fromEntries(spreads), ...(heap?.length && { heap }) }];
    }),
  );
}
