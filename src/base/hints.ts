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

/** Most that may be wrong in a long name. */
const MOST_EDITS = 4;

/** What was probably meant by an unknown key, or where it belongs; `undefined` if nothing is known of it. */
export function hintFor(key: string, what: string, accepted: readonly string[]): string | undefined {
  if (ARGUMENT.test(what) && OPTION.test(key)) return `"${key}" belongs in the last argument, options`;
  if (accepted.includes("prefetch") && PARAM.test(key)) return `"${key}" belongs in the argument before, params`;
  const aliases = ALIASES.get(simplified(key)) ?? [];
  const meant = aliases.find((alias) => accepted.includes(alias.replace(/\..*/, ""))) ?? closestName(key, accepted);
  return meant === undefined ? undefined : `did you mean "${meant}"?`;
}

/**
 * The name that is closest to one that is unknown, or `undefined` if none is close. Case, `_` and `-` do not count; of the
 * rest one character in three may be wrong, missing, added, or swapped with its neighbour.
 */
export function closestName(unknown: string, names: readonly string[]): string | undefined {
  const written = simplified(unknown);
  const most = Math.min(MOST_EDITS, Math.floor(written.length / 3));
  for (let edits = 0; edits <= most; edits += 1) {
    const close = names.find((name) => isWithin(edits, written, simplified(name)));
    if (close !== undefined) return close;
  }
  return undefined;
}

function simplified(name: string): string {
  return name.slice(0, 40).toLowerCase().replaceAll(/[_-]/g, "");
}

/** Whether so many edits make one name of the other. */
function isWithin(edits: number, one: string, other: string): boolean {
  if (one === other) return true;
  const [from, to] = [one.slice(1), other.slice(1)];
  if (one[0] === other[0]) return isWithin(edits, from, to);
  if (edits === 0) return false;
  const isSwapped = one[0] === other[1] && one[1] === other[0];
  return (
    isWithin(edits - 1, from, to) ||
    isWithin(edits - 1, from, other) ||
    isWithin(edits - 1, one, to) ||
    (isSwapped && isWithin(edits - 1, one.slice(2), other.slice(2)))
  );
}
