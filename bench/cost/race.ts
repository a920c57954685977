/**
 * Contenders in processes of their own, which take turns: one lap each and then the next round, so that all of them meet
 * the same weather. Whoever begins a round changes with the round.
 */

import { Part } from "../support/part.ts";
import type { Lap, LapTask } from "./worker.ts";

/** Starting, warming up, or one lap. */
const GRACE_MS = 120_000;
/** A lap is shorter for whoever would need longer than this. */
const LAP_MS = 800;
const PILOT_CALLS = 200;

export interface Race {
  readonly contenders: readonly string[];
  readonly task: Omit<LapTask, "contender">;
  /** Calls of one lap, at most. */
  readonly calls: number;
  /** Calls of each contender before the first lap counts, unless it is slow. */
  readonly warmUp: number;
  readonly rounds: number;
  /** The rounds are spread over so many sets of processes: how code is laid out in one may be luck. */
  readonly heats: number;
}

/** The laps of each contender, by round. */
export async function race(given: Race): Promise<Map<string, Lap[]>> {
  const laps = new Map<string, Lap[]>(given.contenders.map((name) => [name, []]));
  for (let heat = 0; heat < given.heats; heat += 1) {
    const runners: Runner[] = [];
    try {
      for (const contender of given.contenders) {
        const task: LapTask = { ...given.task, contender };
        const part = new Part(new URL("worker.ts", import.meta.url), task, ["--expose-gc"]);
        const runner = { contender, part, calls: given.calls };
        runners.push(runner);
        await part.next(GRACE_MS);
        await warmUp(runner, given);
      }
      const rounds = Math.ceil(given.rounds / given.heats);
      for (let round = 0; round < rounds; round += 1) {
        for (const { contender, part, calls } of rotate(runners, round)) {
          laps.get(contender)?.push(await lapOf(part, calls));
        }
      }
    } finally {
      await Promise.all(runners.map(({ part }) => part.stop()));
    }
  }
  return laps;
}

interface Runner {
  readonly contender: string;
  readonly part: Part;
  calls: number;
}

async function warmUp(runner: Runner, { warmUp: wanted, calls }: Race): Promise<void> {
  const pilot = Math.min(PILOT_CALLS, wanted);
  if (pilot === 0) return;
  await lapOf(runner.part, pilot);
  const { wallUs } = await lapOf(runner.part, pilot);
  const share = Math.min(1, (LAP_MS * 1_000) / (wallUs * calls));
  runner.calls = Math.max(1, Math.round(calls * share));
  await lapOf(runner.part, Math.max(1, Math.round(wanted * share)));
}

async function lapOf(part: Part, calls: number): Promise<Lap> {
  part.tell(String(calls));
  return part.next<Lap>(GRACE_MS);
}

function rotate<Item>(items: readonly Item[], by: number): Item[] {
  const at = by % items.length;
  return [...items.slice(at), ...items.slice(0, at)];
}
