/** Characters that nobody sees: zero-width, direction marks, tags, fillers, line separators, controls but tab and newline. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?![\t\n])\p{Cc}/gu;
/** The user and the password in an address. */
const CREDENTIALS = /:\/\/[^\s/?#@:]*:[^\s/?#]*@/g;

/** The longest text of others in a sentence of ours. */
const LONGEST_QUOTED = 300;

/** The rules for a text of others. */
export interface TextRules {
  /** The most characters of it. */
  readonly longest?: number | undefined;
  /** Takes the secrets of the client out. */
  readonly redact?: ((text: string) => string) | undefined;
}

/** No tool shows more of a text, so no more of it is looked through. */
const LONGEST_READ = 50_000;

/**
 * A text of others as a model may read it: without invisible characters, without the password of an address and the
 * secrets of the client, and with at most `longest` characters.
 */
export function visible(text: string, { longest = LONGEST_READ, redact = (same) => same }: TextRules = {}): string {
  const read = text.slice(0, LONGEST_READ).replaceAll(UNSEEN, "").replaceAll(CREDENTIALS, "://[redacted]@");
  const seen = redact(read);
  // Half a character may be left at the cut, which nobody sees.
  return seen.length > longest ? `${seen.slice(0, longest - 1).replaceAll(UNSEEN, "")}…` : seen;
}

/** A text of others within a sentence of ours: a short JSON string, so that it cannot be taken for ours. */
export function quoted(text: string): string {
  return JSON.stringify(visible(text, { longest: LONGEST_QUOTED }));
}

/** The fields that go back to the service, so they stay as they came. */
const OPAQUE: ReadonlySet<string> = new Set(["id", "next_cursor"]);

/** A copy of parsed JSON whose texts a model may read. Ids and cursors stay as they are. */
export function visibleJson<Json>(json: Json, rules: TextRules): Json {
  const copy = (value: unknown): unknown => {
    if (typeof value === "string") return visible(value, rules);
    if (Array.isArray(value)) return value.map(copy);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, OPAQUE.has(key) ? member : copy(member)]),
    );
  };
  return copy(json) as Json; // of the same shape
}
