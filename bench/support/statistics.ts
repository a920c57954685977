/** Middles and spreads. Medians throughout: on a machine with other work to do, means say what that work was. */

export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** The median, and the quartiles on its sides. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: quantile(sorted, 0.5), low: quantile(sorted, 0.25), high: quantile(sorted, 0.75) };
}

export function median(values: readonly number[]): number {
  return spreadOf(values).median;
}

/** Each value with the one of the same round: what disturbs a round disturbs both. */
export function pairwise(
  values: readonly number[],
  others: readonly number[],
  combine: (value: number, other: number) => number,
): Spread {
  if (values.length !== others.length) throw new Error("rounds of different numbers cannot be paired");
  return spreadOf(values.map((value, round) => combine(value, others[round] ?? Number.NaN)));
}

function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}
