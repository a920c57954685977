/**
 * Names that other clients have, in lower case without `_` and `-`, and the option that is meant: the first that is accepted.
 * `write`: what to write, where the name alone does not say enough.
 */
const MEANT: readonly (readonly [names: string, option: string, write?: string])[] = [
  ["apikey accesstoken apitoken auth authorization", "token"],
  ["url serverurl", "baseUrl"],
  ["url", "path"],
  ["retries maxretries maxnetworkretries", "attempts", "attempts: n + 1, which counts the first"],
  ["retries maxretries maxnetworkretries", "retry", "retry: { attempts: n + 1 }, which counts the first"],
  ["retryconfig", "retry"],
  ["defaultheaders", "headers"],
  ["useragent", "headers", 'headers: { "user-agent": … }'],
  ["agent httpagent httpsagent proxy", "fetchOptions", "fetchOptions: { dispatcher }"],
  ["middleware interceptors", "fetch", "a fetch of your own"],
  ["hooks", "onEvent"],
  ["debug", "logLevel", 'logger: console, logLevel: "debug"'],
  ["idempotencykey", "retry", "nothing: the service has no idempotency keys; see error.outcome"],
  ["body data", "json"],
  ["expires expiresin expiresat expiry ttl", "expires_in_days"],
  ["permissions", "scopes"],
  ["params", "query"],
  ["query params", "extra", "extra: { query }"],
  ["json body data", "extra", "extra: { json }"],
  ["limit", "max"],
  ["pagesize perpage", "limit"],
  ["page offset after nextcursor", "cursor", "cursor: the next_cursor of the page before"],
];

const NAMES = { call: new Set<string>(), list: new Set<string>(), client: new Set<string>() };

/** Takes the names of a schema, where it is defined: hints say where a name belongs that stands elsewhere. Returns the schema. */
export function namesOf<Schema extends object>(kind: keyof typeof NAMES, schema: Schema): Schema {
  for (const name of Object.keys(schema)) NAMES[kind].add(name);
  return schema;
}

/** Arguments of methods that have another one, `options`, behind them. */
const ARGUMENT = /^(?:input|params|request|list)$/;

const EXTRA: Readonly<Record<string, string>> = { input: "options.extra.json", params: "options.extra.query" };

/** The place that an unknown key belongs in; `undefined` if it is none of this package's names. */
function placeOf(key: string, what: string, accepted: readonly string[]): string | undefined {
  if (ARGUMENT.test(what) && NAMES.call.has(key)) return "the last argument, options";
  if (accepted.includes("prefetch") && NAMES.list.has(key)) return "the argument before, params";
  if (accepted.includes("baseUrl") && NAMES.call.has(key))
    return "the last argument of a call; onEvent sees every call";
  if (accepted.includes("signal") && NAMES.client.has(key)) return "the options of the client";
  return undefined;
}

/** Hints for unknown keys: where they belong, or the accepted names that were probably meant. Empty if none is known. */
export function hintsFor(
  unknown: Readonly<Record<string, unknown>>,
  what: string,
  accepted: readonly string[],
): string[] {
  const hints = new Set<string>();
  const names = new Set<string>();
  for (const [key, value] of Object.entries(unknown)) {
    const place = placeOf(key, what, accepted);
    const [, option = closestName(key, accepted), write] =
      MEANT.find(([known, name]) => known.split(" ").includes(simplified(key)) && accepted.includes(name)) ?? [];
    if (place !== undefined) hints.add(`"${key}" belongs in ${place}`);
    else if (write !== undefined)
      hints.add(`write ${Number.isSafeInteger(value) ? write.replace("n + 1", `${Number(value) + 1}`) : write}`);
    else if (option !== undefined) names.add(`"${option}"`);
    else if (EXTRA[what] !== undefined) hints.add(`if your service takes others, pass them in ${EXTRA[what]}`);
  }
  return names.size > 0 ? [...hints, `did you mean ${[...names].join(", ")}?`] : [...hints];
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

/** The number of letters that have to be added, left out or replaced; 0 if only their order differs. */
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
