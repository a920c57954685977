import { type Disturbance, type FaultKind, KINDS, suits } from "./kinds.ts";
import { type ExploredRequest, subjectOf } from "./requests.ts";

/** The requests of the undisturbed program: of its first start, and of the one more start. */
export interface Undisturbed {
  readonly first: readonly ExploredRequest[];
  readonly again: readonly ExploredRequest[];
}

interface Choice {
  readonly faults: readonly FaultKind[];
  /** Each request is tried with each kind. */
  readonly all: boolean;
}

export interface Places {
  readonly places: readonly Disturbance[];
  /** The runs that `all` would make, too. */
  readonly leftOut: number;
}

const MOST_RUNS = 60;

/** Items by what `keyOf` returns, in the order in which that came first. */
export function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

/**
 * The runs with a fault: each request with each kind. Where those are too many, of each operation the first request, and
 * with some kinds the last. A program that sends the same when it is started once more keeps nothing, so that this start
 * tells nothing new.
 */
export function placesOf({ first, again }: Undisturbed, { faults, all }: Choice): Places {
  const later = namesOf(first) === namesOf(again) ? [] : again;
  const groups = [first, later].flatMap((requests) => [...groupBy(requests, subjectOf).values()]);
  const runsOf = (choose: (fault: FaultKind, at: number, count: number) => boolean): Disturbance[] =>
    faults.flatMap((fault) =>
      groups
        .flatMap((group) => group.filter((_, at) => choose(fault, at, group.length)))
        .filter((request) => suits(fault, request))
        .map((request) => ({ fault, request })),
    );
  const every = runsOf(() => true);
  const places = all || every.length <= MOST_RUNS ? every : runsOf(isFirstOrLast);
  return { places, leftOut: every.length - places.length };
}

function isFirstOrLast(fault: FaultKind, at: number, count: number): boolean {
  return at === 0 || (at === count - 1 && KINDS[fault].isForLast === true);
}

const namesOf = (requests: readonly ExploredRequest[]): string => requests.map(subjectOf).join("\n");

/** The operation that two undisturbed starts send in different numbers, in words; `undefined` if there is none. */
export function differenceOf(one: readonly ExploredRequest[], other: readonly ExploredRequest[]): string | undefined {
  const sides = [groupBy(one, subjectOf), groupBy(other, subjectOf)];
  for (const subject of new Set(sides.flatMap((groups) => [...groups.keys()]))) {
    const [left, right] = sides.map((groups) => groups.get(subject)?.length ?? 0);
    if (left !== right) return `one sent ${left} requests of ${subject}, another ${right}`;
  }
  return undefined;
}
