import { KINDS } from "./fault-kinds.ts";
import type { RunRecord } from "./run.ts";
import type { StartRecord } from "./starts.ts";
import { compareWorlds, type Unsteady } from "./world.ts";

/** The kinds of findings, the worst first. */
export const WORST_FIRST = ["twice", "changed", "lost", "check", "locked_out", "hangs"] as const;

/** The flaw at the end of a run. */
export interface Wrong {
  readonly what: (typeof WORST_FIRST)[number];
  readonly words: string;
}

/** The undisturbed run, and what differs between undisturbed runs. */
export interface Reference {
  readonly run: RunRecord;
  readonly unsteady: Unsteady;
  /** False if the undisturbed runs return different values to compare. */
  readonly isComparable: boolean;
  /** True if `check` takes the place of the comparison. */
  readonly isChecked: boolean;
}

/** Judges a run by the undisturbed one: `"right"`, `"told"` if the program said that it is not, or the worst that is wrong. */
export function judge(reference: Reference, run: RunRecord): "right" | "told" | Wrong {
  const found: Wrong[] = [...judgeEnd(reference, run), ...judgeAgain(reference, run)];
  const lockedOut = lockedOutWords(run);
  if (lockedOut !== undefined) found.push({ what: "locked_out", words: lockedOut });
  for (const { outcome } of startsOf(run))
    if (outcome.state === "hangs") found.push({ what: "hangs", words: outcome.reason });
  for (const what of WORST_FIRST) {
    const worst = found.find((wrong) => wrong.what === what);
    if (worst !== undefined) return worst;
  }
  return run.starts.at(-1)?.outcome.state === "resolved" ? "right" : "told";
}

function judgeEnd(reference: Reference, run: RunRecord): Wrong[] {
  const isResolved = run.starts.at(-1)?.outcome.state === "resolved";
  return judgeWorld(reference, { expected: reference.run.end, actual: run.end, isResolved });
}

function judgeAgain(reference: Reference, { again }: RunRecord): Wrong[] {
  const expected = reference.run.again;
  if (again === undefined || expected === undefined) return [];
  const isResolved = again.outcome.state === "resolved" && expected.outcome.state === "resolved";
  return judgeWorld(reference, { expected: expected.end, actual: again.end, isResolved }).map(({ what, words }) => ({
    what,
    words: `${words}, after one more start`,
  }));
}

interface Ends {
  readonly expected: RunRecord["end"];
  readonly actual: RunRecord["end"];
  readonly isResolved: boolean;
}

function judgeWorld({ unsteady, isComparable, isChecked }: Reference, { expected, actual, isResolved }: Ends): Wrong[] {
  if (isChecked) return actual.failed === undefined ? [] : [{ what: "check", words: String(actual.failed.error) }];
  const { twice, changed, lost } = compareWorlds(expected.world, actual.world, unsteady);
  const found: Wrong[] = twice.map((words) => ({ what: "twice", words }));
  if (!isResolved) return found;
  for (const words of changed) found.push({ what: "changed", words });
  if (isComparable && expected.compared !== actual.compared)
    found.push({ what: "changed", words: `compare ${actual.compared}; undisturbed, it ${expected.compared}` });
  for (const words of lost) found.push({ what: "lost", words });
  return found;
}

/** The starts until one resolved, and the one more. */
export const startsOf = ({ starts, again }: RunRecord): StartRecord[] => [
  ...starts,
  ...(again === undefined ? [] : [again]),
];

/** Each later start is answered 401, and no answer of a rotation was lost. */
function lockedOutWords(run: RunRecord): string | undefined {
  const isRotationLost = run.disturbances.some(
    ({ fault, request }) => request.operation === "tokens.rotate" && KINDS[fault].losesResponse,
  );
  const later = startsOf(run).slice(1);
  if (isRotationLost || later.length === 0 || !later.every(isRefused)) return undefined;
  return "each later start is answered 401";
}

function isRefused({ outcome, requests }: StartRecord): boolean {
  const last = requests.at(-1);
  return outcome.state === "rejected" && last?.status === 401 && !last.faulty;
}
