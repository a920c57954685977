/** Characters without a shape: zero-width, direction marks, tags, fillers, line separators, controls but tab and newline. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?![\t\n])\p{Cc}/gu;
/** A character of a word or an emoji, with a shape. */
const SEEN = String.raw`(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{Emoji}\p{Extended_Pictographic}]`;
/** Joiners inside words and emoji, and selectors of a form: they are spelling. */
const SPELLING = new RegExp(
  `(?<=${SEEN}\ufe0f?)[\u200c\u200d](?=${SEEN})|(?<=${SEEN})[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]`,
  "gu",
);

/** The user and the password in an address. */
const CREDENTIALS = /:\/\/[^\s/?#@:]*:[^\s/?#]*@/g;

/** The longest text of others in a sentence of ours. */
const LONGEST_QUOTED = 300;

export interface TextRules {
  readonly longest?: number | undefined;
  readonly redact?: ((text: string) => string) | undefined;
}

/** No tool shows more of a text, so no more of it is looked through. */
const LONGEST_READ = 50_000;

/**
 * A text of others as a model may read it: without invisible characters, without the password of an address and the
 * secrets of the client, and with at most `longest` characters.
 */
export function visible(text: string, { longest = LONGEST_READ, redact = (same) => same }: TextRules = {}): string {
  const read = spelled(text.slice(0, LONGEST_READ)).replaceAll(CREDENTIALS, "://[redacted]@");
  // A joiner inside a token must not hide it.
  const bare = read.replaceAll(UNSEEN, "");
  const safe = redact(bare);
  const seen = safe === bare ? read : safe;
  // Half a character may be left at the cut: it is removed.
  return seen.length > longest ? `${spelled(seen.slice(0, longest - 1))}…` : seen;
}

function spelled(text: string): string {
  const kept = new Set(Array.from(text.matchAll(SPELLING), ({ index }) => index));
  return text.replaceAll(UNSEEN, (found: string, index: number) => (kept.has(index) ? found : ""));
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
