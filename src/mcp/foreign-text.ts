import { cut, isObject } from "../core/checks/values.ts";

/** Invisible characters: controls but tab and newline, line separators, direction marks, tags. Joiners stay: they are spelling. */
const UNSEEN = /(?![\t\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** The longest text of others in a sentence of ours. */
const LONGEST_QUOTED = 300;

export interface TextRules {
  readonly longest?: number | undefined;
  readonly redact?: ((text: string) => string) | undefined;
}

/**
 * A text of others as a model may read it: without invisible characters, without the secrets of the client, and with at most
 * `longest` characters.
 */
export function visible(
  text: string,
  { longest = Number.POSITIVE_INFINITY, redact = (same) => same }: TextRules = {},
): string {
  const seen = redact(text.replaceAll(UNSEEN, ""));
  return seen.length > longest ? `${cut(seen, longest - 1)}…` : seen;
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
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, OPAQUE.has(key) ? member : copy(member)]),
    );
  };
  return copy(json) as Json; // of the same shape
}
