import { SHORTEST_SECRET } from "../checks/values.ts";
import { valuesOf } from "../wire/json.ts";

/** The text in the place of a secret. */
export const REDACTED = "[redacted]";
/** Shorter values of a response occur in any message. */
const SHORTEST_VALUE = 4;
/** Values of a response times characters of the texts in which they are searched. A text beyond that is not shown. */
const MOST_COMPARED = 20_000_000;
/** A token that was cut off is still that token, from so many characters of its secret part on. */
const SHORTEST_CUT = 8;
/** The same for a token without parts. */
const SHORTEST_OPAQUE_CUT = 12;

const SECRET_WORD = "plain[_-]?text|token|secret|passw|authorization|credential|api[_-]?key|private[_-]?key";
/** A name with a secret's word in it. */
const SECRET_NAME = new RegExp(SECRET_WORD, "i");
/** The end of a name that describes a secret, and holds none. */
const DESCRIPTION = /(?:id|type|url|count|left|at|name)$/i;
/** Names of the caller's headers whose values are secrets. */
const SECRET_HEADER = /auth|token|secret|key|cookie|credential|passw|session|signature/i;

/** Secrets that must not be shown. */
export interface Secrets {
  readonly tokens: Iterable<string>;
  /** Headers of the caller, of which some are secret by their name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A response, whose strings and numbers are not to be quoted. */
  readonly response?: unknown;
}

/** A part of a text: the index of its first character, and the one behind its last. */
type Span = readonly [start: number, end: number];

/** Finds secrets of one kind in a text. */
type Finder = (text: string) => readonly Span[];

/** `true` for a field that holds a secret by its name; `inSecret`: it is part of a field that does. */
export function isSecretName(name: string, inSecret = false): boolean {
  return (inSecret || SECRET_NAME.test(name)) && !DESCRIPTION.test(name);
}

/**
 * Takes secrets out of a text: known ones as they are, in any case, in base64, and cut off at their end; values by the name
 * before them; passwords in URLs; and unknown tokens that begin as known ones do. A text is looked through as it is, and
 * with the escapes of URLs and JSON read once. `byLooks` finds what is a secret by its looks alone.
 */
export function redactionOf(
  { tokens, headers = {}, response }: Secrets,
  byLooks: readonly Finder[] = [namedValuesIn, passwordsInUrls],
): (text: string) => string {
  const known = [...tokens];
  const values = quotableIn(response);
  const finders: readonly Finder[] = [
    ...known.flatMap(spellingsOf),
    ...[...credentialsIn(headers), ...values].map((secret) => ({ spelled: secret, least: secret.length })),
  ]
    .filter(({ spelled }) => spelled !== "")
    .map(occurrencesOf)
    .concat(known.map(likeTokensOf), byLooks);
  let left = MOST_COMPARED;
  return (text) => {
    left -= values.length * text.length;
    if (left < 0) return REDACTED;
    const inText = finders.flatMap((find) => find(text));
    const { read, at } = readEscapes(text);
    const inRead = read === text ? [] : finders.flatMap((find) => find(read));
    return without([...inText, ...inRead.map(([start, end]): Span => [at[start] ?? 0, at[end] ?? 0])], text);
  };
}

/** A text with these parts replaced, which may overlap. */
function without(ranges: readonly Span[], text: string): string {
  let shown = "";
  let shownTo = 0;
  for (const [start, end] of [...ranges].sort(([one], [other]) => one - other)) {
    if (start >= shownTo) shown += text.slice(shownTo, start) + REDACTED;
    shownTo = Math.max(shownTo, end);
  }
  return shown + text.slice(shownTo);
}

/** A secret as it may be spelled, and how much of its beginning is enough to be taken out. */
interface Spelling {
  readonly spelled: string;
  readonly least: number;
}

/** Finds a secret, in whatever case, also where it is cut off. */
function occurrencesOf({ spelled, least }: Spelling): Finder {
  const secret = inLowerCase(spelled);
  const beginning = secret.slice(0, least);
  return (text) => {
    const searched = inLowerCase(text);
    const ranges: Span[] = [];
    let end = 0;
    for (let at = searched.indexOf(beginning); at >= 0; at = searched.indexOf(beginning, end)) {
      end = at + beginning.length;
      while (end - at < secret.length && secret[end - at] === searched[end]) end += 1;
      // A short one is taken out only where it stands alone.
      const isAlone = !/[\w-]/.test(`${searched[at - 1] ?? ""}${searched[end] ?? ""}`);
      if (isAlone || least >= SHORTEST_SECRET) ranges.push([at, end]);
      else end = at + 1;
    }
    return ranges;
  };
}

/** A text of as many characters: the lower case of others than these may have more. */
function inLowerCase(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** A token, its secret part, and in base64 the token and the header that it is sent in. */
function spellingsOf(token: string): readonly Spelling[] {
  // `<prefix>_<key_id>_<secret>`: the prefix and the key id are public.
  const [form = "", publicPart = "", secretPart = ""] = /^([^_]+_[^_]+_)(.{8,})$/.exec(token) ?? [];
  const [, lastPart = ""] = /_([^_]{8,})$/.exec(secretPart) ?? [];
  const least = form === "" ? SHORTEST_OPAQUE_CUT : publicPart.length + SHORTEST_CUT;
  const literal = [
    { spelled: token, least: Math.min(least, token.length) },
    ...[secretPart, lastPart].map((spelled) => ({ spelled, least: SHORTEST_CUT })),
  ];
  // Not every platform has `btoa`.
  if (typeof btoa !== "function" || !/^[!-~]+$/.test(token)) return literal;
  const encoded = ["", "Bearer "].flatMap((scheme) => {
    const spelled = btoa(scheme + token).replace(/=+$/, "");
    // The last character of the beginning depends on the one behind it.
    const length = Math.floor(((scheme.length + Math.min(least, token.length)) * 8) / 6);
    const forUrls = spelled.replaceAll("+", "-").replaceAll("/", "_");
    return [spelled, forUrls].map((one) => ({ spelled: one, least: length }));
  });
  return [...literal, ...encoded];
}

/** Finds tokens that are not known yet, such as a replacement in the text of a refusal: they begin as a known one does. */
function likeTokensOf(token: string): Finder {
  const [, prefix] = /^([a-z\d]+)_[^_]*_/i.exec(token) ?? [];
  if (prefix === undefined) return () => [];
  const like = new RegExp(String.raw`\b${prefix}_[\w-]*_[\w%-]{8,}`, "gi");
  return (text) => [...text.matchAll(like)].map(({ index, 0: found }) => [index, index + found.length]);
}

/** `name=value`, `name: value`, `"name": "value"`, up to the value; with the scheme of an `Authorization` header. */
const NAME = new RegExp(
  String.raw`((?:${SECRET_WORD})[\w-]{0,64})(?:\\?["'])?\s{0,8}[:=]\s{0,8}(?:\\?["'])?(?:(?:bearer|basic)\s{1,8})?`,
  "gi",
);
/** The value, by the quote before it. */
const VALUE = /(?<=\\")[^"\\]+|(?<=")(?:[^"\\]|\\.)+|(?<=')[^']+|[^\s"',;&<>{}[\]\\]+/y;

const namedValuesIn: Finder = (text) => {
  const ranges: Span[] = [];
  const names = new RegExp(NAME);
  for (let match = names.exec(text); match !== null; match = names.exec(text)) {
    const [, name = ""] = match;
    if (!isSecretName(name)) continue;
    VALUE.lastIndex = names.lastIndex;
    const [value = ""] = VALUE.exec(text) ?? [];
    if (value.length < SHORTEST_SECRET) continue;
    const end = names.lastIndex + value.length;
    ranges.push([names.lastIndex, end]);
    names.lastIndex = end;
  }
  return ranges;
};

/** The beginning of a URL, up to its password, and the password. */
const PASSWORD_IN_URL = /\b([a-z][a-z\d+.-]{0,30}:(?:\\?\/){2}[^\s:@/\\]{0,256}:)([^\s/"'<>]{1,256})@/gi;

const passwordsInUrls: Finder = (text) =>
  [...text.matchAll(PASSWORD_IN_URL)].map(({ index, 0: { length }, 1: before = "" }) => [
    index + before.length,
    index + length - 1,
  ]);

/** Characters as URLs and JSON spell them where they cannot stand by themselves. */
const ESCAPE = /%([\da-fA-F]{2})|\\(?:u[\da-fA-F]{4}|["\\/bfnrt])/g;

/** A text with its escapes read, once; `at`: where each of its characters stands in the text, and its end. */
function readEscapes(text: string): { readonly read: string; readonly at: readonly number[] } {
  const at: number[] = [];
  let next = 0;
  const standTo = (last: number): void => {
    for (; next <= last; next += 1) at.push(next);
  };
  const read = text.replaceAll(ESCAPE, (spelled: string, hex: string | undefined, index: number) => {
    standTo(index);
    next = index + spelled.length;
    return String(JSON.parse(`"${hex === undefined ? spelled : `\\u00${hex}`}"`));
  });
  standTo(text.length);
  return { read, at };
}

/** The values of secret headers, and the credentials that stand in them behind a scheme. */
function credentialsIn(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    SECRET_HEADER.test(name) ? [value, value.replace(/^\S+\s+/, "")] : [],
  );
}

/** The strings and numbers of parsed JSON, as far as they can be told from words of a message. */
function quotableIn(json: unknown): string[] {
  const quotable = [...valuesOf(json)].filter((value) => ["string", "number"].includes(typeof value)).map(String);
  return [...new Set(quotable)].filter((text) => text.length >= SHORTEST_VALUE);
}
