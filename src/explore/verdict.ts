import { type End, isDone, type RunRecord, startsOf } from "./run-record.ts";
import { compareWorlds, type Unsteady } from "./world.ts";

/** The kinds of findings, the worst first. */
export const WORST_FIRST = ["twice", "changed", "lost", "locked_out", "hangs"] as const;

export interface Wrong {
  readonly what: (typeof WORST_FIRST)[number];
  readonly words: string;
}

/** The undisturbed run, and what differs between undisturbed runs. */
export interface Reference {
  readonly run: Judged;
  readonly unsteady: Unsteady;
}

/** The parts of a run that its verdict depends on. */
export type Judged = Pick<RunRecord, "first" | "again" | "hit">;

/** Judges a run by the undisturbed one: `"right"`, `"told"` if the program said that it is not done, or the worst problem. */
export function judge(reference: Reference, run: Judged): "right" | "told" | Wrong {
  const found = [...problemsOf(reference, run)];
  for (const what of WORST_FIRST) {
    const worst = found.find((wrong) => wrong.what === what);
    if (worst !== undefined) return worst;
  }
  return isDone(startsOf(run)) ? "right" : "told";
}

function* problemsOf({ run: reference, unsteady }: Reference, run: Judged): Generator<Wrong> {
  const { first, again } = reference;
  yield* problemsOfEnd({ expected: first, actual: run.first, unsteady });
  if (run.again !== undefined && again !== undefined) {
    for (const { what, words } of problemsOfEnd({ expected: again, actual: run.again, unsteady }))
      yield { what, words: `${words}, after one more start` };
  }
  if (isLockedOut(run) && !isLockedOut(reference))
    yield { what: "locked_out", words: "each later start is answered 401" };
  for (const { outcome } of startsOf(run))
    if (outcome.state === "hangs")
      yield { what: "hangs", words: `${outcome.words}; if it only waits longer, give --timeout` };
}

interface Ends {
  readonly expected: End;
  readonly actual: End;
  readonly unsteady: Unsteady;
}

function* problemsOfEnd({ expected, actual, unsteady }: Ends): Generator<Wrong> {
  const { twice, changed, lost } = compareWorlds(expected.things, actual.things, unsteady);
  for (const words of twice) yield { what: "twice", words };
  // A program that says that it is not done may leave something open.
  if (!isDone(expected.starts) || !isDone(actual.starts)) return;
  for (const words of changed) yield { what: "changed", words };
  for (const words of lost) yield { what: "lost", words };
}

const REVOKES: readonly unknown[] = ["tokens.rotate", "tokens.revoke"];

/** Each later start is answered 401. Where the answer to a revocation was lost, the program cannot know of it. */
function isLockedOut(run: Judged): boolean {
  const later = startsOf(run).slice(1);
  if (later.length === 0 || (REVOKES.includes(run.hit?.operation) && run.hit?.applied)) return false;
  return later.every(({ outcome, requests }) => {
    const last = requests.at(-1);
    return outcome.state === "failed" && last?.status === 401 && !last.faulty;
  });
}
