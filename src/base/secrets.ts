/** What stands in the place of a secret. */
export const REDACTED = "[redacted]";
/** A shorter secret may occur in ordinary words: it is taken out only where it stands alone. */
const SHORTEST_ANYWHERE = 8;
/** Shorter values of a response occur in any message. */
const SHORTEST_VALUE = 4;
/** Values of a response times characters of the texts in which they are searched. A text beyond that is not shown. */
const MOST_COMPARED = 20_000_000;

/** Letters and digits that stand together as in no words of a message. */
const RANDOM = /(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{12}/;
/** So many levels of escapes of escapes are read. */
const LEVELS_READ = 4;

/** Names of fields and parameters whose values are secrets. */
export const SECRET_NAME = /plaintext|token|secret|passw|authorization|credential|api[_-]?key|private[_-]?key/i;
/** Names of the caller's headers whose values are secrets. */
const SECRET_HEADER = /auth|token|secret|key|cookie|credential|passw|session|signature/i;
/** `name=value`, `name="value"` and `"name": "value"` in a text. */
const NAMED_VALUE =
  /(?<![\w-])([\w-]{1,64})(?:=|"\s*:\s*)"?((?<=")[^"\\]*(?:\\.[^"\\]*)*|(?<!")[^\s"',;&<>{}[\]\uFFFD]+)/g;
/** What may be a token: `<prefix>_<key_id>_<secret>`. */
const TOKEN = /\b([a-z\d]+)_[\w-]*_[\w%-]{8,}/gi;
/** A character as URLs, JSON and HTML spell it where it cannot stand by itself. */
const ESCAPE = /(?:%|\\u00)([\da-f]{2})|&#(x0*[\da-f]{2}|0*\d{1,3});|&[a-z]+;|\\["\\/bfnrt]/gi;
/** Marks that other escapes begin with, or values end with. */
const MARKS: Readonly<Record<string, string>> = { "&amp;": "&", "&quot;": '"', '\\"': '"', "\\\\": "\\" };
/** A mark that is spelled by its name. Whichever it is, it is taken for any mark of a secret. */
const SOME_MARK = "\uFFFD";

/** What must not be shown. */
export interface Secrets {
  readonly tokens: Iterable<string>;
  /** Headers of the caller, of which some are secret by their name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A response, whose strings and numbers are not to be quoted. */
  readonly response?: unknown;
}

/**
 * Takes secrets out of a text: by their spelling, in whatever case and with whatever escapes, by the name before them, and
 * by the prefix that tokens have.
 */
export function redactionOf({ tokens, headers = {}, response }: Secrets): (text: string) => string {
  const known = [...tokens];
  const values = valuesIn(response);
  const secrets = [...known.flatMap(spellingsOf), ...credentialsIn(headers), ...values]
    .filter((secret) => secret !== "")
    .map((secret) => ({ secret, letters: lettersOf(secret) }));
  // However a token is spelled, and whatever escapes it seems to have itself, its random parts stay when all are read.
  const cores = known
    .flatMap((token) => spellingsOf(token).slice(0, 1))
    .flatMap((secret) => [lettersOf(secret), ...lettersOf(readEscapes(secret) ?? "", " ").split(" ")])
    .filter((core) => RANDOM.test(core));
  // A token that is not known yet, such as a replacement in the text of a refusal, begins as those that are.
  const prefixes = known.flatMap((token) => /^([a-z\d]+)_[^_]*_/.exec(token.toLowerCase())?.[1] ?? []);
  let left = MOST_COMPARED;
  const withoutKnown = (text: string): string => {
    left -= values.length * text.length;
    if (left < 0) return REDACTED;
    const searched = lettersOf(text);
    const found = secrets.filter(({ letters }) => searched.includes(letters)).map(({ secret }) => secret);
    const patterns = found.sort((one, other) => other.length - one.length).map(patternOf);
    return patterns.reduce((clean, pattern) => clean.replace(pattern, REDACTED), text);
  };
  const withoutLikely = (text: string): string =>
    text
      .replace(TOKEN, (token: string, prefix: string) => (prefixes.includes(prefix.toLowerCase()) ? REDACTED : token))
      .replace(NAMED_VALUE, (named: string, name: string, value: string) =>
        SECRET_NAME.test(name) ? `${named.slice(0, named.length - value.length)}${REDACTED}` : named,
      );
  return (text) => {
    const shown = inBothReadings(text, withoutKnown);
    // What is spelled with escapes of escapes, or is made of them itself, cannot be told from the rest.
    const read = readEscapes(shown);
    const letters = read && lettersOf(read);
    if (letters === undefined || cores.some((core) => letters.includes(core))) return REDACTED;
    // Last, since what looks like a secret may be a part of one that is known.
    return inBothReadings(shown, withoutLikely);
  };
}

/** A text that is cleaned as it is, and with its escapes read, which is shown where that finds more. */
function inBothReadings(text: string, clean: (reading: string) => string): string {
  const cleaned = clean(text);
  const reading = cleaned.replace(ESCAPE, characterOf);
  const spelled = reading === cleaned ? reading : clean(reading);
  return spelled === reading ? cleaned : spelled;
}

/** What an escape stands for. `hex`: of a URL or of JSON; `number`: of HTML, with `x` if it is hexadecimal. */
function characterOf(spelled: string, hex: string | undefined, number: string | undefined): string {
  const code = hex === undefined ? number : `x${hex}`;
  if (code !== undefined) return String.fromCharCode(Number(`0${code}`));
  return MARKS[spelled.toLowerCase()] ?? SOME_MARK;
}

/** A text whose escapes have been read until there are none; `undefined` if they nest too deep. */
function readEscapes(text: string): string | undefined {
  let read = text;
  for (let level = 0; level < LEVELS_READ; level += 1) {
    const before = read;
    read = read.replace(ESCAPE, characterOf);
    if (read === before) return read;
  }
  return undefined;
}

/** A text in lower case without its marks, to be searched quickly, and however they are spelled. */
function lettersOf(text: string, mark: string = ""): string {
  return text.toLowerCase().replaceAll(/[^a-z\d]/g, mark);
}

function patternOf(secret: string): RegExp {
  const spelled = secret.replaceAll(/[^a-z\d]/gi, (mark) => `[\\${mark}${SOME_MARK}]`);
  return new RegExp(secret.length < SHORTEST_ANYWHERE ? String.raw`(?<![\w-])${spelled}(?![\w-])` : spelled, "gi");
}

/**
 * The last part of a token, `<secret>` of `<prefix>_<key_id>_<secret>`, also where that has underscores of its own; all of
 * it; and it, and the whole header that it is sent in, in base64.
 */
function spellingsOf(token: string): string[] {
  const start = token.lastIndexOf("_", token.length - SHORTEST_ANYWHERE - 1) + 1;
  const literal = /^[^_]*_[^_]*_/.test(token.slice(0, start)) ? [token.slice(start), token] : [token];
  if (!/^[!-~]+$/.test(token)) return literal;
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
function valuesIn(root: unknown): string[] {
  const found = new Set<string>();
  const pending = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === "object" && value !== null) for (const member of Object.values(value)) pending.push(member);
    else if (["string", "number"].includes(typeof value)) found.add(String(value));
  }
  return [...found].filter((text) => text.length >= SHORTEST_VALUE);
}
