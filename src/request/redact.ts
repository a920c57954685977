import { isBrandedError } from "../errors/automation-error.ts";

/** What stands in the place of a secret. */
export const REDACTED = "[redacted]";

/** Fields of a refusal's body that hold secrets by their name, whatever they hold. */
const SECRET_FIELD = /plaintext|token$|secret|passw|authorization|credential|api_?key|private_?key/i;
/** Headers of the caller whose values are secrets by their name. */
const SECRET_HEADER = /auth|token|secret|key|cookie|credential|passw|session|signature/i;
const MAX_DEPTH = 32;
const MAX_NODES = 10_000;
const MAX_CAUSES = 6;
/** A shorter secret may occur in ordinary words: it is taken out only where it stands alone. */
const SHORTEST_ANYWHERE = 8;
/** A text may have been cut within a secret: so many characters of its beginning are taken out at the end of a text. */
const SHORTEST_BEGINNING = 6;

const BUILT_IN = [TypeError, SyntaxError, RangeError] as const;
/** C0 and C1 controls, line separators, and marks that change the direction of text. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g;

/** Takes secrets out of texts and values. A text is always redacted as a whole, and only then cut. */
export class Redactor {
  readonly #tokens: Iterable<string>;
  readonly #headers: Readonly<Record<string, string>>;
  /** Made when a text is looked at: most errors have none. */
  #made: { readonly secrets: readonly string[]; readonly patterns: readonly RegExp[] } | undefined;

  /** @param tokens the tokens of a call; of each, its secret last segment alone is secret, too */
  constructor(tokens: Iterable<string>, headers: Readonly<Record<string, string>> = {}) {
    this.#tokens = tokens;
    this.#headers = headers;
  }

  get #known(): { readonly secrets: readonly string[]; readonly patterns: readonly RegExp[] } {
    this.#made ??= this.#make();
    return this.#made;
  }

  #make(): { readonly secrets: readonly string[]; readonly patterns: readonly RegExp[] } {
    const secrets = new Set<string>();
    const prefixes = new Set<string>();
    for (const token of this.#tokens) {
      for (const secret of [token, ...tailsOf(token)])
        for (const spelling of spellingsOf(secret)) secrets.add(spelling);
      // <prefix>_<key_id>_<secret>
      const prefix = /^([^_]+)_[^_]*_/.exec(token)?.[1];
      if (prefix !== undefined) prefixes.add(prefix);
    }
    for (const [name, value] of Object.entries(this.#headers)) if (SECRET_HEADER.test(name)) secrets.add(value);
    secrets.delete("");
    const sorted = [...secrets].sort((a, b) => b.length - a.length);
    const patterns = [
      ...sorted.map(toPattern),
      // A token that is not known yet, such as a replacement in the text of a refusal, has the prefix of those that are.
      ...[...prefixes].map((prefix) => new RegExp(`\\b${literally(prefix)}_[\\w-]*_[\\w-]{8,}`, "g")),
    ];
    return { secrets: sorted, patterns };
  }

  /** A text without secrets, and without the beginning of one at its end. */
  text(text: string): string {
    return this.#withoutBeginning(
      this.#known.patterns.reduce((clean, pattern) => clean.replaceAll(pattern, REDACTED), text),
    );
  }

  /** A text as one line of at most `max` characters, without secrets and control characters. */
  line(text: string, max: number): string {
    const line = this.text(text).replaceAll(CONTROLS, " ").replaceAll(/ {2,}/g, " ").trim();
    return line.length > max ? `${line.slice(0, max - 1)}…` : line;
  }

  /** As `text`, for text that is not JSON but may hold some: members that are secret by their name go, too. */
  prose(text: string): string {
    const clean = text.replace(/"([^"]*)"(\s*:\s*")[^"]*/g, (member, name: string, colon: string) =>
      SECRET_FIELD.test(name) ? `"${name}"${colon}${REDACTED}` : member,
    );
    return this.text(clean);
  }

  /** A copy of parsed JSON without secrets. Members too deep or too many for a person to read are cut off. */
  json(value: unknown): unknown {
    return this.#json(value, { depth: 0, nodes: { left: MAX_NODES } });
  }

  /** A copy of what foreign code threw, with what is harmless of it: name, message, code, stack and causes. */
  cause(value: unknown, depth = 0): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value === "function") return undefined;
    // Our own errors are free of secrets by the time they exist.
    if (typeof value !== "object" || value === null || isBrandedError(value)) return value;
    if (depth >= MAX_CAUSES) return undefined;
    try {
      return value instanceof Error ? this.#copyError(value, depth) : isPlain(value) ? this.json(value) : undefined;
    } catch {
      // It may have a getter that throws.
      return undefined;
    }
  }

  #json(value: unknown, at: { depth: number; nodes: { left: number } }): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return typeof value === "function" ? undefined : value;
    at.nodes.left -= 1;
    if (at.depth >= MAX_DEPTH || at.nodes.left < 0) return "[deeper]";
    const inside = { ...at, depth: at.depth + 1 };
    if (Array.isArray(value)) return value.map((member) => this.#json(member, inside));
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        const isSecret = SECRET_FIELD.test(key) && member !== null && typeof member !== "boolean";
        return [this.text(key), isSecret ? REDACTED : this.#json(member, inside)];
      }),
    );
  }

  #copyError(error: Error, depth: number): Error {
    const { cause, code } = error as { cause?: unknown; code?: unknown }; // platform errors carry them without a type
    const Kind = BUILT_IN.find((builtIn) => error instanceof builtIn) ?? Error;
    const copy = new Kind(
      this.text(String(error.message)),
      cause === undefined ? {} : { cause: this.cause(cause, depth + 1) },
    );
    const shared = { configurable: true, writable: true };
    Object.defineProperty(copy, "name", { ...shared, value: this.text(String(error.name)) });
    Object.defineProperty(copy, "stack", { ...shared, value: this.text(String(error.stack ?? "")) });
    return typeof code === "string" ? Object.assign(copy, { code: this.text(code) }) : copy;
  }

  #withoutBeginning(text: string): string {
    const end = withoutTrailingMarks(text);
    for (const secret of this.#known.secrets) {
      for (let length = Math.min(secret.length - 1, end.length); length >= SHORTEST_BEGINNING; length -= 1) {
        if (!end.endsWith(secret.slice(0, length))) continue;
        return `${end.slice(0, -length)}${REDACTED}${text.slice(end.length)}`;
      }
    }
    return text;
  }
}

/** What may follow a secret that was cut: quotes, dots, white space. */
const TRAILING_MARK = /[\s"'.…]/;

// Not by a pattern that is anchored at the end: it looks at a run of marks again from each of its characters, which
// blocks for seconds if a service fills a refusal with them.
function withoutTrailingMarks(text: string): string {
  let end = text.length;
  while (end > 0 && TRAILING_MARK.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The last segments of `<prefix>_<key_id>_<secret>`, where a prefix may have an underscore of its own. */
function tailsOf(token: string): string[] {
  const parts = token.split("_");
  return parts
    .map((_, first) => parts.slice(first).join("_"))
    .filter((tail, first) => first >= 2 && tail.length >= SHORTEST_ANYWHERE);
}

/** A secret as texts may spell it: as it is, in a URL, in JSON. */
function spellingsOf(secret: string): string[] {
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];
}

function literally(literal: string): string {
  return literal.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function toPattern(secret: string): RegExp {
  const literal = literally(secret);
  return new RegExp(secret.length < SHORTEST_ANYWHERE ? `(?<![\\w-])${literal}(?![\\w-])` : literal, "g");
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Array.isArray(value);
}
