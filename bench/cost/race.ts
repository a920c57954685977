/**
 * Clients in processes of their own, which take turns, one lap each in a round, so that all of them meet the same load of
 * the machine. The first of a round changes.
 */

import { Part, withService } from "../support/process.ts";
import { type Bench, entrants, type Figures, spreadOf } from "../support/results.ts";
import type { ServiceTask } from "./service.ts";
import type { Lap, LapTask } from "./worker.ts";

/** A client whose calls take long makes fewer of them in a lap. */
const LAP_MS = 800;
const PILOT_CALLS = 200;

/** A figure of a lap beside the laps that other clients ran in the same round. */
export type Figure = (lap: Lap, round: Readonly<Record<string, Lap>>) => number;

export interface Race<Name extends string> {
  readonly work: LapTask["work"];
  readonly clients: readonly Name[];
  /** The clients that figures compare with. */
  readonly beside: readonly Name[];
  readonly service?: ServiceTask;
  /** Calls in a lap, at most, and before the first lap counts. */
  readonly calls: number;
  readonly warmUp: number;
  readonly rounds: number;
  /** The rounds are spread over so many sets of processes: how code is laid out in one may be luck. */
  readonly heats: number;
  readonly figures: Readonly<Record<string, Figure>>;
}

export async function race<Name extends string>(race: Race<Name>, bench: Bench): Promise<Figures> {
  const names = entrants(race.clients, bench, race.beside);
  const run = async (origin: string): Promise<Figures> =>
    figuresOf(race.figures, await roundsOf(race, names, { ...bench, origin }));
  if (race.service === undefined) return run("http://127.0.0.1");
  const service = [new URL("service.ts", import.meta.url), race.service] as const;
  return withService<{ origin: string }, Figures>(service, ({ origin }) => run(origin));
}

interface Runner {
  readonly name: string;
  readonly part: Part;
  readonly calls: number;
}

/** Returns the laps of each round by client. */
async function roundsOf<Name extends string>(
  race: Race<Name>,
  names: readonly string[],
  bench: Bench & { readonly origin: string },
): Promise<Record<string, Lap>[]> {
  const rounds: Record<string, Lap>[] = [];
  const heats = bench.quick ? 1 : race.heats;
  for (let heat = 0; heat < heats; heat += 1) {
    const runners: Runner[] = [];
    try {
      for (const entrant of names) {
        const task: LapTask = { work: race.work, entrant, packages: bench.packages, origin: bench.origin };
        const part = new Part(new URL("worker.ts", import.meta.url), task);
        await part.next();
        runners.push({ name: entrant, part, calls: await warmUp(part, race) });
      }
      const laps = Math.ceil((bench.quick ? race.rounds / 4 : race.rounds) / heats);
      for (let round = 0; round < laps; round += 1) {
        const found: Record<string, Lap> = {};
        const first = round % runners.length;
        for (const { name, part, calls } of [...runners.slice(first), ...runners.slice(0, first)]) {
          found[name] = await lapOf(part, calls);
        }
        rounds.push(found);
      }
    } finally {
      for (const { part } of runners) part.stop();
    }
  }
  return rounds;
}

/** Returns how many calls a lap of this client has. */
async function warmUp(part: Part, { calls, warmUp: wanted }: Pick<Race<string>, "calls" | "warmUp">): Promise<number> {
  if (wanted === 0) return calls;
  const pilot = Math.min(PILOT_CALLS, wanted);
  await lapOf(part, pilot);
  const { wall } = await lapOf(part, pilot);
  const share = Math.min(1, (LAP_MS * 1_000) / (wall * calls));
  await lapOf(part, Math.ceil(wanted * share));
  return Math.ceil(calls * share);
}

function lapOf(part: Part, calls: number): Promise<Lap> {
  part.tell(String(calls));
  return part.next<Lap>();
}

function figuresOf(figures: Race<string>["figures"], rounds: readonly Record<string, Lap>[]): Figures {
  const names = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(
    names.map((name) => {
      const laps = rounds.flatMap((round) => {
        const lap = round[name];
        return lap === undefined ? [] : [{ lap, round }];
      });
      const spreads = Object.entries(figures).map(
        ([figure, of]) => [figure, spreadOf(laps.map(({ lap, round }) => of(lap, round)))] as const,
      );
      const looks = laps[0]?.lap.heap?.map((_, at) => spreadOf(laps.map(({ lap }) => lap.heap?.[at] ?? Number.NaN))[1]);
      return [name, { ...Object.fromEntries(spreads), ...(looks && { heap: looks }) }];
    }),
  );
}
