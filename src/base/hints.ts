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
const OPTIONS = [
  "signal",
  "timeoutMs",
  "totalTimeoutMs",
  "retry",
  "headers",
  "onRequest",
  "onResponse",
  "adopt",
  "prefetch",
];
const PARAMS = ["limit", "cursor"];
/** Arguments of methods that have another one, `options`, behind them. */
const ARGUMENTS = ["input", "params", "request", "list"];

/** Most that may be wrong in a long name. */
const MOST_EDITS = 4;

/** What was probably meant by an unknown key, or where it belongs; `undefined` if nothing is known of it. */
export function hintFor(key: string, what: string, accepted: readonly string[]): string | undefined {
  if (ARGUMENTS.includes(what) && OPTIONS.includes(key)) return `"${key}" belongs in the last argument, options`;
  if (accepted.includes("prefetch") && PARAMS.includes(key)) return `"${key}" belongs in the argument before, params`;
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
  if (edits === 0) return false;
  let same = 0;
  while (one[same] === other[same]) same += 1;
  const [from, to] = [one.slice(same), other.slice(same)];
  const left = edits - 1;
  return (
    isWithin(left, from.slice(1), to.slice(1)) ||
    isWithin(left, from.slice(1), to) ||
    isWithin(left, from, to.slice(1)) ||
    (from[0] === to[1] && from[1] === to[0] && isWithin(left, from.slice(2), to.slice(2)))
  );
}
