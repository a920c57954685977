import { valuesOf } from "../checks/json.ts";
import { RANDOM, SHORTEST_SECRET } from "../checks/values.ts";

/** What stands in the place of a secret. */
export const REDACTED = "[redacted]";
/** Shorter values of a response occur in any message. */
const SHORTEST_VALUE = 4;
/** Values of a response times characters of the texts in which they are searched. A text beyond that is not shown. */
const MOST_COMPARED = 20_000_000;

/** So many levels of escapes of escapes are read. A text with more is not shown. */
const LEVELS_READ = 4;

/** Names of fields and parameters whose values are secrets. */
export const SECRET_NAME = /plaintext|token|secret|passw|authorization|credential|api[_-]?key|private[_-]?key/i;
/** Names of the caller's headers whose values are secrets. */
const SECRET_HEADER = /auth|token|secret|key|cookie|credential|passw|session|signature/i;
/** A mark that is spelled by its name. Whichever it is, it is taken for any mark of a secret. */
const SOME_MARK = "\uFFFD";
/** The value in `name=value`, `name="value"` and `"name": "value"`. */
const NAMED_VALUE = [
  // Not looked for within spaces, where looking back would take long.
  String.raw`(?<!\s(?=\s))(?<=(?:${SECRET_NAME.source})[\w-]{0,64}(?:=|"\s*:\s*)"?)`,
  String.raw`(?:(?<=")(?:[^"\\]+|\\.)*|[^\s"',;&<>{}[\]${SOME_MARK}]+)`,
].join("");
/** A character as URLs, JSON and HTML spell it where it cannot stand by itself. */
const ESCAPE = /(?:%|\\u00)([\da-f]{2})|&#(x0*[\da-f]{2}|0*\d{1,3});|&[a-z]+;|\\["\\/bfnrt]/gi;
/** Marks that other escapes are made of, or values end with. */
const MARKS: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&quot;": '"',
  '\\"': '"',
  "\\/": "/",
  "\\\\": "\\",
};

/** What must not be shown. */
export interface Secrets {
  readonly tokens: Iterable<string>;
  /** Headers of the caller, of which some are secret by their name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A response, whose strings and numbers are not to be quoted. */
  readonly response?: unknown;
}

/** What is taken out of a text: what a regular expression finds, where the text has these letters and digits. */
interface Pattern {
  readonly letters: string;
  readonly source: string;
}

/**
 * Takes secrets out of a text: by their spelling, in whatever case and with whatever escapes, by the name before them, and
 * by the prefix that tokens have.
 */
export function redactionOf({ tokens, headers = {}, response }: Secrets): (text: string) => string {
  const known = [...tokens];
  const values = quotableIn(response);
  const secrets = [...known.flatMap(spellingsOf).flatMap(readingsOf), ...credentialsIn(headers), ...values]
    .filter((secret) => secret !== "")
    .sort((one, other) => other.length - one.length)
    .map((secret) => ({ letters: lettersOf(secret), source: sourceOf(secret) }));
  // A spelling of a token that is not in the first list still holds its random parts, once the escapes are read. A text that
  // has one is not shown at all.
  const parts = known
    .flatMap((token) => readingsOf(secretPartOf(token)))
    .flatMap((reading) => [reading, ...reading.split(/[^a-z\d]/i)])
    .map((part) => ({ letters: lettersOf(part), source: "[^]+" }))
    .filter(({ letters }) => RANDOM.test(letters));
  // A token that is not known yet, such as a replacement in the text of a refusal, begins as those that are.
  const likely = known
    .flatMap((token) => /^([a-z\d]+)_[^_]*_/i.exec(token)?.[1] ?? [])
    .map((prefix) => String.raw`\b${prefix}_[\w-]*_[\w%-]{8,}`);
  // Known secrets come first: what looks like a secret may be no more than the beginning of a known one, up to an escape.
  const lists = [secrets, parts, [{ letters: "", source: [NAMED_VALUE, ...likely].join("|") }]];
  let left = MOST_COMPARED;
  return (text) => {
    left -= values.length * text.length;
    return left < 0 ? REDACTED : lists.reduce((shown, patterns) => without(patterns, shown), text);
  };
}

/** Takes patterns out of each reading of a text, and shows the first one after which nothing more is found. */
function without(patterns: readonly Pattern[], text: string, levels: number = LEVELS_READ): string {
  const found = lettersOf(text);
  const clean = patterns
    .filter(({ letters }) => found.includes(letters))
    .reduce((shown, { source }) => shown.replace(new RegExp(source, "gi"), REDACTED), text);
  const reading = clean.replace(ESCAPE, characterOf);
  if (reading === clean) return clean;
  const shown = levels === 0 ? REDACTED : without(patterns, reading, levels - 1);
  return shown === reading ? clean : shown;
}

/** The readings of a text: as it is, with its escapes read, with the escapes read that it has then, and so on. */
function readingsOf(text: string): string[] {
  const reading = text.replace(ESCAPE, characterOf);
  return reading === text ? [text] : [text, ...readingsOf(reading)];
}

/** What an escape stands for. `hex`: of a URL or of JSON; `number`: of HTML, with `x` if it is hexadecimal. */
function characterOf(spelled: string, hex: string | undefined, number: string | undefined): string {
  const code = hex === undefined ? number : `x${hex}`;
  return code === undefined ? (MARKS[spelled.toLowerCase()] ?? SOME_MARK) : String.fromCharCode(Number(`0${code}`));
}

/** A text in lower case without its marks, to be searched quickly, and however they are spelled. */
function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z\d]/g, "");
}

function sourceOf(secret: string): string {
  const spelled = secret.replaceAll(/[^a-z\d]/gi, (mark) => `[\\${mark}${SOME_MARK}]`);
  // A short one is taken out only where it stands alone.
  return secret.length < SHORTEST_SECRET ? String.raw`(?<![\w-])${spelled}(?![\w-])` : spelled;
}

/** The last part of a token, `<secret>` of `<prefix>_<key_id>_<secret>`, also where that has underscores of its own. */
function secretPartOf(token: string): string {
  return /^[^_]*_[^_]*_(?:.*_)?(.{8,})$/.exec(token)?.[1] ?? token;
}

/** A token; its last part; and the token, and the whole header that it is sent in, in base64. */
function spellingsOf(token: string): string[] {
  const literal = [token, secretPartOf(token)];
  // Not every platform has `btoa`.
  if (typeof btoa !== "function" || !/^[!-~]+$/.test(token)) return literal;
  const encoded = [token, `Bearer ${token}`].map((text) => btoa(text).replace(/=+$/, ""));
  return [...literal, ...encoded, ...encoded.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))];
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
