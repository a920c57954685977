import { seededRandom } from "../../random.ts";
import type { RecordedRequest } from "../../request-log.ts";
import { type Disturbance, type ExploredRequest, type FaultKind, subjectOf } from "./fault-kinds.ts";

/** The requests of a log, each with its number among those for the same operation. */
export function requestsOf(log: readonly RecordedRequest[]): ExploredRequest[] {
  const counts = new Map<string, number>();
  return log.map(({ operation, method, path }) => {
    const subject = subjectOf({ operation, method, path });
    const index = counts.get(subject) ?? 0;
    counts.set(subject, index + 1);
    return { operation, index, method, path };
  });
}

/** One run for each request and each kind of fault. */
export function planOf(requests: readonly ExploredRequest[], faults: readonly FaultKind[]): Disturbance[] {
  return requests.flatMap((request) => faults.map((fault) => ({ fault, request })));
}

/** A run that has been made with one fault, and the requests that came behind it. */
export interface Continuation {
  readonly first: Disturbance;
  readonly later: readonly ExploredRequest[];
}

/** A sample, which the seed repeats, of the pairs of two faults. */
export function samplePairs(
  runs: readonly Continuation[],
  { faults, maxRuns, seed }: { readonly faults: readonly FaultKind[]; readonly maxRuns: number; readonly seed: number },
): (readonly [Disturbance, Disturbance])[] {
  const pairs = runs.flatMap(({ first, later }) => planOf(later, faults).map((second) => [first, second] as const));
  const random = seededRandom(seed);
  return pairs
    .map((pair) => ({ pair, rank: random() }))
    .sort((one, other) => one.rank - other.rank)
    .slice(0, maxRuns)
    .map(({ pair }) => pair);
}

/** The difference between the numbers of requests of two undisturbed runs; `undefined` if there is none. */
export function differenceOfCounts(
  one: readonly ExploredRequest[],
  other: readonly ExploredRequest[],
): string | undefined {
  const subjects = new Set([...one, ...other].map(subjectOf));
  for (const subject of subjects) {
    const [first, second] = [one, other].map((side) => side.filter((request) => subjectOf(request) === subject).length);
    if (first !== second) return `the first sent ${first} requests of ${subject}, the second ${second}`;
  }
  return undefined;
}
