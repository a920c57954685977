/** A shorter secret may occur in ordinary words: it is taken out only where it stands alone. */
const SHORTEST_ANYWHERE = 8;
/** Shorter values of a response occur in any message. */
const SHORTEST_VALUE = 4;
/** Values of a response times characters of the texts in which they are searched. A text beyond that is not shown. */
const MOST_COMPARED = 20_000_000;

/** Names of fields and parameters whose values are secrets. */
export const SECRET_NAME = /plaintext|token|secret|passw|authorization|credential|api[_-]?key|private[_-]?key/i;
/** Names of the caller's headers whose values are secrets. */
const SECRET_HEADER = /auth|token|secret|key|cookie|credential|passw|session|signature/i;
/** `name=value`, `name="value"` and `"name": "value"` in a text. */
const NAMED_VALUE = /(?<![\w-])([\w-]{1,64})(?:=|"\s*:\s*)"?((?<=")[^"\\]*(?:\\.[^"\\]*)*|(?<!")[^\s"',;&<>{}[\]]+)/g;
/** What stands before such a value, in a text that is looked through quickly. */
const NAMING = /[="]/;
/** What a redactor knows. */
export interface Secrets {
  readonly tokens: Iterable<string>;
  /** Headers of the caller, of which some are secret by their name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A response, whose strings and numbers are not to be quoted. */
  readonly response?: unknown;
}

/** Where a secret stands in a text. */
export type Span = readonly [start: number, end: number];

/** A secret in lower case. A text may spell it without what comes `before` it, or with a part of that. */
interface Secret {
  readonly before: string;
  readonly secret: string;
}

/** Finds what is secret in a text: by its spelling, in whatever case, by the name before it, by the prefix of a token. */
export function searchFor({ tokens, headers = {}, response }: Secrets): (text: string) => Span[] {
  const known = [...tokens];
  const values = valuesIn(response);
  const whole = [...known.flatMap(encodingsOf), ...credentialsIn(headers)].map(caseless);
  const secrets = [...known.map(secretOf), ...[...whole, ...values].map((secret) => ({ before: "", secret }))].filter(
    ({ secret }) => secret !== "",
  );
  // A token that is not known yet, such as a replacement in the text of a refusal, begins as those that are.
  const prefixes = new Set(known.flatMap((token) => /^([^_]+)_[^_]*_/.exec(token)?.[1] ?? []));
  const likeKnown = [...prefixes].map((prefix) => new RegExp(`\\b${literally(prefix)}_[\\w-]*_[\\w-]{8,}`, "gi"));
  let left = MOST_COMPARED;
  return (text) => {
    left -= values.length * text.length;
    if (left < 0) return [[0, text.length]];
    const searched = caseless(text);
    const found: Span[] = [];
    for (const secret of secrets) if (secret.secret.length <= text.length) found.push(...spansOf(secret, searched));
    for (const pattern of likeKnown) {
      for (const { 0: token, index } of text.matchAll(pattern)) found.push([index, index + token.length]);
    }
    if (!NAMING.test(text)) return found;
    for (const { 0: named, 1: name = "", 2: value = "", index } of text.matchAll(NAMED_VALUE)) {
      const end = index + named.length;
      if (SECRET_NAME.test(name)) found.push([end - value.length, end]);
    }
    return found;
  };
}

function spansOf({ before, secret }: Secret, text: string): Span[] {
  const spans: Span[] = [];
  let end = 0;
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, end)) {
    let from = at;
    for (let left = before.length; left > 0 && from > end && text[from - 1] === before[left - 1]; left -= 1) from -= 1;
    end = at + secret.length;
    const isPart = /[\w-]/.test(text.charAt(from - 1)) || /[\w-]/.test(text.charAt(end));
    if (secret.length >= SHORTEST_ANYWHERE || !isPart) spans.push([from, end]);
  }
  return spans;
}

/** Of `<prefix>_<key_id>_<secret>` the last part is enough to be found, also where that has underscores of its own. */
function secretOf(token: string): Secret {
  const start = token.lastIndexOf("_", token.length - SHORTEST_ANYWHERE - 1) + 1;
  const at = /^[^_]*_[^_]*_/.test(token.slice(0, start)) ? start : 0;
  return { before: caseless(token.slice(0, at)), secret: caseless(token.slice(at)) };
}

/** A token, and the whole header that it is sent in, in base64. */
function encodingsOf(token: string): string[] {
  if (!/^[!-~]+$/.test(token)) return [];
  const encoded = [token, `Bearer ${token}`].map((text) => btoa(text).replace(/=+$/, ""));
  return encoded.flatMap((text) => [text, text.replaceAll("+", "-").replaceAll("/", "_")]);
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
    if (typeof value !== "string" && typeof value !== "number") continue;
    const text = String(value);
    if (text.length >= SHORTEST_VALUE) found.add(caseless(text));
  }
  return [...found];
}

/** A text in lower case, of the same length: there is one letter that would become two. */
function caseless(text: string): string {
  return text.replaceAll("İ", "i").toLowerCase();
}

function literally(literal: string): string {
  return literal.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
