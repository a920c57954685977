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
 * The name that is closest to one that is unknown, or `undefined` if none is close: at most one in three of the letters is
 * wrong, or they are the same in another order. Case, `_` and `-` do not count.
 */
export function closestName(unknown: string, names: readonly string[]): string | undefined {
  const written = simplified(unknown);
  const wrong = names.map((name) => editsBetween(simplified(name), written));
  const least = Math.min(...wrong);
  return least <= written.length / 3 ? names[wrong.indexOf(least)] : undefined;
}

/** How many letters have to be added, left out or replaced; none where only the order is another one. */
function editsBetween(name: string, written: string): number {
  if ([...name].sort().join() === [...written].sort().join()) return 0;
  /** For each beginning of `written`, to get there from the letters of `name` so far. */
  let edits = Array.from(written, (_, index) => index + 1);
  for (const [index, letter] of [...name].entries()) {
    let [before, diagonal] = [index + 1, index];
    edits = edits.map((above, at) => {
      before = Math.min(before + 1, above + 1, diagonal + Number(written[at] !== letter));
      diagonal = above;
      return before;
    });
  }
  return edits.at(-1) ?? name.length;
}

function simplified(name: string): string {
  return name.slice(0, 40).toLowerCase().replaceAll(/[_-]/g, "");
}
