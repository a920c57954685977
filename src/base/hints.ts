/** Names as other clients have them, in lower case, and what is meant by them: the first that is accepted. */
const ALIASES: ReadonlyMap<string, readonly string[]> = new Map([
  ["apikey", ["token"]],
  ["url", ["baseUrl", "path"]],
  ["retries", ["attempts", "retry.attempts"]],
  ["maxretries", ["attempts", "retry.attempts"]],
  ["body", ["json"]],
  ["pagesize", ["limit"]],
]);

/** What belongs in the last argument of a method, and what in the one before it, where there is one. */
const OPTION = /^(?:signal|timeoutMs|totalTimeoutMs|retry|headers|onRequest|onResponse|adopt|prefetch)$/;
const PARAM = /^(?:limit|cursor)$/;
/** Arguments of methods that have another one, `options`, behind them. */
const ARGUMENT = /^(?:input|params|request|list)$/;

/** Most letters that may be wrong in a long name. */
const MOST_WRONG = 4;

/** Where unknown keys belong, and what was probably meant by them; empty if nothing is known of any. */
export function hintsFor(keys: readonly string[], what: string, accepted: readonly string[]): string[] {
  const places: string[] = [];
  const meant = new Set<string>();
  for (const key of keys) {
    const aliases = ALIASES.get(simplified(key)) ?? [];
    const name = aliases.find((alias) => accepted.includes(alias.replace(/\..*/, ""))) ?? closestName(key, accepted);
    if (ARGUMENT.test(what) && OPTION.test(key)) places.push(`"${key}" belongs in the last argument, options`);
    else if (accepted.includes("prefetch") && PARAM.test(key))
      places.push(`"${key}" belongs in the argument before, params`);
    else if (name !== undefined) meant.add(`"${name}"`);
  }
  return meant.size > 0 ? [...places, `did you mean ${[...meant].join(", ")}?`] : places;
}

/**
 * The name that is closest to one that is unknown, or `undefined` if none is close: two in three of the letters are the
 * same, in the same order. Case, `_` and `-` do not count.
 */
export function closestName(unknown: string, names: readonly string[]): string | undefined {
  const written = simplified(unknown);
  const wrong = names.map(simplified).map((name) => Math.max(name.length, written.length) - inCommon(name, written));
  const least = Math.min(...wrong);
  return least <= Math.min(MOST_WRONG, Math.floor(written.length / 3)) ? names[wrong.indexOf(least)] : undefined;
}

/** How many letters two names have in common, in the same order. */
function inCommon(name: string, other: string): number {
  /** Those that the letters of `name` so far have in common with each beginning of `other`. */
  let counts: readonly number[] = [];
  for (const letter of name) {
    let [most, before] = [0, 0];
    counts = [...other].map((candidate, index) => {
      const without = counts[index] ?? 0;
      most = Math.max(most, without, candidate === letter ? before + 1 : 0);
      before = without;
      return most;
    });
  }
  return counts.at(-1) ?? 0;
}

function simplified(name: string): string {
  return name.slice(0, 40).toLowerCase().replaceAll(/[_-]/g, "");
}
