import { ignoreErrors } from "../checks/ignore-errors.ts";
import { cut, isError, isObject, isPlainObject, SHORTEST_SECRET, wellFormed } from "../checks/values.ts";
import { isBrandedError } from "../errors/automation-error.ts";
import { parseJson, valuesOf } from "../wire/json.ts";

export const REDACTED = "[redacted]";
const TOO_LONG = "[too long]";
const LONGEST_TEXT = 64 * 1024;
const LONGEST_SHORT = 200;
/** So many levels of a refusal's body are shown, and so many causes of an error. */
const LEVELS_SHOWN = 32;
const CAUSES_SHOWN = 6;
/** Shorter values of a response occur in any message. */
const SHORTEST_VALUE = 4;
/** Values of a response times characters of the texts in which they are searched. A text beyond that is not shown. */
const MOST_COMPARED = 20_000_000;
const BUILT_IN = [TypeError, SyntaxError, RangeError] as const;

const SECRET_WORD = "plain[_-]?text|token|secret|passw|authorization|credential|api[_-]?key|private[_-]?key";
const DESCRIPTION = "id|type|url|count|left|at|name";
const SECRET_NAME = new RegExp(SECRET_WORD, "i");
const DESCRIBES = new RegExp(`(?:${DESCRIPTION})$`, "i");
export const SECRET_HEADER = /auth|token|secret|key|cookie|credential|passw|session|signature/i;

/** `name=value`, `name: value`, `"name": "value"`, with the scheme of an `Authorization` header: the text before the value, and it. */
const NAMED_VALUE = new RegExp(
  String.raw`((?:${SECRET_WORD})[\w-]{0,64}(?<!${DESCRIPTION})(?:\\?["'])?\s{0,8}[:=]\s{0,8}(?:\\?["'])?(?:(?:bearer|basic)\s{1,8})?)` +
    String.raw`(?:(?<=\\")[^"\\]{8,}|(?<=")(?:[^"\\]|\\.){8,}|(?<=')[^']{8,}|[^\s"',;&<>{}[\]\\]{8,})`,
  "gi",
);
/** The beginning of a URL, up to its password, and the password. */
const PASSWORD_IN_URL = /\b([a-z][a-z\d+.-]{0,30}:(?:\\?\/){2}[^\s:@/\\]{0,256}:)[^\s/"'<>]{1,256}@/gi;

interface Secrets {
  readonly tokens: Iterable<string>;
  /** Headers of the caller, of which some are secret by their name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A response, whose strings and numbers are not to be quoted. */
  readonly response?: unknown;
}

/** Takes secrets out of what others say: the service, the platform, a schema, a function of the caller's. */
export class Redactor {
  readonly #secrets: Secrets;
  /** Made when a text is looked through: most calls have none. */
  #hide: ((text: string) => string) | undefined;

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  /** A redactor that hides the strings and numbers of a response as well, since a schema may quote them. */
  alsoHiding(response: unknown): Redactor {
    return new Redactor({ ...this.#secrets, response });
  }

  text(text: string): string {
    if (text.length > LONGEST_TEXT) return TOO_LONG;
    this.#hide ??= hideSecrets(this.#secrets);
    return this.#hide(wellFormed(text))
      .replaceAll(NAMED_VALUE, `$1${REDACTED}`)
      .replaceAll(PASSWORD_IN_URL, `$1${REDACTED}@`);
  }

  holdsToken(text: string): boolean {
    return hideSecrets({ tokens: this.#secrets.tokens })(text) !== text;
  }

  /** A text as one line of at most `max` characters, without secrets and control characters. */
  line(text: string, max: number): string {
    return oneLine(this.text(text), max);
  }

  /** A short text of others, such as a header's value, as errors and events show it; `undefined` if there is none. */
  short(text: string | null | undefined): string | undefined {
    return this.line(text ?? "", LONGEST_SHORT) || undefined;
  }

  /**
   * A copy of parsed JSON without secrets, and without levels that are too deep for a person to read. `inSecret`: by the name
   * of its field, its strings are secrets.
   */
  json(value: unknown, depth = 0, inSecret = false): unknown {
    if (typeof value === "string") return inSecret && value.length >= SHORTEST_SECRET ? REDACTED : this.text(value);
    if (!isObject(value)) return this.text(String(value)) === String(value) ? value : REDACTED;
    if (depth >= LEVELS_SHOWN) return "[deeper]";
    if (Array.isArray(value)) return value.map((member) => this.json(member, depth + 1, inSecret));
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        this.text(key),
        this.json(member, depth + 1, isSecretName(key, inSecret)),
      ]),
    );
  }

  /** A copy of an error of foreign code, with its harmless parts: name, message, code, stack and causes. */
  cause(value: unknown, depth = 0): unknown {
    // Our own errors are free of secrets by the time they exist.
    if (isBrandedError(value)) return value;
    if (typeof value === "function" || depth >= CAUSES_SHOWN) return undefined;
    if (!isObject(value)) return this.json(value);
    // It may have a getter that throws, or refer to itself.
    return ignoreErrors<unknown>(() => {
      if (isError(value)) return this.#copyError(value, depth);
      const text = Array.isArray(value) || isPlainObject(value) ? JSON.stringify(value) : undefined;
      return text === undefined || text.length > LONGEST_TEXT ? undefined : this.json(parseJson(text));
    });
  }

  #copyError(error: Error, depth: number): Error {
    const { cause, code }: Error & { readonly code?: unknown } = error;
    const Kind = BUILT_IN.find(({ name }) => name === error.name) ?? Error;
    const copy = new Kind("", cause === undefined ? {} : { cause: this.cause(cause, depth + 1) });
    for (const key of ["name", "message", "stack"] as const) {
      const value = this.text(String(error[key] ?? ""));
      Object.defineProperty(copy, key, { configurable: true, writable: true, value });
    }
    return typeof code === "string" ? Object.assign(copy, { code: this.text(code) }) : copy;
  }
}

/** Spaces, C0 and C1 controls, line separators, and marks that change the direction of text. */
const GAPS = /[\u0000-\u0020\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g;

export function oneLine(text: string, max: number): string {
  const line = text.replaceAll(GAPS, " ").trim();
  return line.length > max ? `${cut(line, max - 1)}…` : line;
}

function isSecretName(name: string, inSecret = false): boolean {
  return (inSecret || SECRET_NAME.test(name)) && !DESCRIBES.test(name);
}

/** Takes known secrets out of a text, in any case, and tokens of the documented form that begin as a known one does. */
function hideSecrets({ tokens, headers = {}, response }: Secrets): (text: string) => string {
  const known = [...tokens];
  const exact = [...known, ...known.map(secretPartOf), ...credentialsIn(headers)].filter((secret) => secret !== "");
  const beginnings = known.flatMap(beginningsOf);
  const values = quotableIn(response);
  let left = MOST_COMPARED;
  return (text) => {
    left -= values.length * text.length;
    if (left < 0) return REDACTED;
    const searched = text.toLowerCase();
    const present = [...exact, ...values].filter((secret) => searched.includes(secret.toLowerCase()));
    // A secret may be a part of a longer one.
    const patterns = present.sort((one, other) => other.length - one.length).map(exactly);
    return [...patterns, ...beginnings].reduce((shown, pattern) => shown.replaceAll(pattern, REDACTED), text);
  };
}

/** A secret as it is. A short one is taken out only where it stands alone. */
function exactly(secret: string): RegExp {
  const literal = literally(secret);
  return new RegExp(secret.length < SHORTEST_SECRET ? String.raw`(?<![\w-])${literal}(?![\w-])` : literal, "gi");
}

/** The secret part of `<prefix>_<key_id>_<secret>`, whose other parts are public; empty for a token of another form. */
function secretPartOf(token: string): string {
  return /^[^_]+_[^_]+_(.{8,})$/.exec(token)?.[1] ?? "";
}

/** The tokens with the prefix of this one, and its secret part: either may be cut off behind eight characters of that. */
function beginningsOf(token: string): RegExp[] {
  const secret = secretPartOf(token).slice(0, 8);
  if (secret === "") return [];
  const [prefix = ""] = token.split("_");
  return [new RegExp(String.raw`\b${literally(prefix)}_[\w-]*_[\w-]{8,}|${literally(secret)}[\w~+/=-]*`, "gi")];
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

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
