import { isBrandedError } from "../errors/automation-error.ts";

/** What stands in the place of a secret. */
export const REDACTED = "[redacted]";

/** Fields of a refusal's body that hold secrets by their name, whatever they hold. */
const SECRET_FIELD = /plaintext|token$|secret|passw|authorization|credential|api_?key|private_?key/i;
const MAX_DEPTH = 32;
const MAX_NODES = 10_000;
/** What is shorter may occur in ordinary words: it is a secret only where it stands alone. */
const SHORTEST_ANYWHERE = 8;

const BUILT_IN = [TypeError, SyntaxError, RangeError] as const;

/** Takes secrets out of texts and values: those of a call, whole tokens and their secret last segments. */
export class Redactor {
  readonly #patterns: readonly RegExp[];

  constructor(tokens: readonly string[]) {
    const secrets = new Set<string>();
    const prefixes = new Set<string>();
    for (const token of tokens) {
      if (token !== "") secrets.add(token);
      // <prefix>_<key_id>_<secret>, where a prefix may have an underscore of its own.
      const parts = token.split("_");
      const [prefix] = parts;
      if (prefix && parts.length > 2) prefixes.add(prefix);
      for (let first = 2; first < parts.length; first += 1) {
        const tail = parts.slice(first).join("_");
        if (tail.length >= SHORTEST_ANYWHERE) secrets.add(tail);
      }
    }
    this.#patterns = [
      ...[...secrets].sort((a, b) => b.length - a.length).map(toPattern),
      // A token that is not known yet, such as a replacement in the text of a refusal, has the prefix of those that are.
      ...[...prefixes].map((prefix) => new RegExp(`\\b${literally(prefix)}_[\\w-]*_[\\w-]{8,}`, "g")),
    ];
  }

  /** As `text`, for what is not JSON but may hold some: members that are secret by their name go, too. */
  prose(text: string): string {
    const clean = text.replace(/"([^"]*)"(\s*:\s*")[^"]*/g, (member, name: string, colon: string) =>
      SECRET_FIELD.test(name) ? `"${name}"${colon}${REDACTED}` : member,
    );
    return this.text(clean);
  }

  text(text: string): string {
    return this.#patterns.reduce((clean, pattern) => clean.replaceAll(pattern, REDACTED), text);
  }

  /** A copy of parsed JSON without secrets; what lies deeper than a person would read is cut off. */
  json(value: unknown, depth = 0): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth >= MAX_DEPTH) return "[deeper]";
    if (Array.isArray(value)) return value.map((member) => this.json(member, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        const isSecret = SECRET_FIELD.test(key) && (typeof member === "string" || typeof member === "number");
        return [this.text(key), isSecret ? REDACTED : this.json(member, depth + 1)];
      }),
    );
  }

  /**
   * What a foreign failure may be kept as: the very value if nothing in it leads to a secret, a request or a response,
   * else a copy of what is harmless.
   */
  cause(value: unknown): unknown {
    return this.#isClean(value) ? value : this.#copy(value, 0);
  }

  #isClean(root: unknown): boolean {
    const seen = new Set<object>();
    const pending: unknown[] = [root];
    while (pending.length > 0) {
      const value = pending.pop();
      if (typeof value === "string" && this.text(value) !== value) return false;
      if (typeof value === "function") pending.push(Function.prototype.toString.call(value));
      else if (typeof value !== "object" || value === null) continue;
      // Our own errors are clean by the time they exist.
      if (seen.has(value) || isBrandedError(value)) continue;
      if (ArrayBuffer.isView(value) || carriesHeaders(value) || seen.size >= MAX_NODES) return false;
      seen.add(value);
      const members = membersOf(value);
      if (members === undefined) return false;
      pending.push(...members);
      if (value instanceof Error) pending.push(value.message, value.stack);
      if (value instanceof Map || value instanceof Set) pending.push(...value.keys(), ...value.values());
    }
    return true;
  }

  #copy(value: unknown, depth: number): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return typeof value === "function" ? undefined : value;
    if (isBrandedError(value)) return value;
    if (!(value instanceof Error) || depth > 5) return undefined;
    const { cause, code } = value as { cause?: unknown; code?: unknown }; // platform errors carry them without a type
    const Kind = BUILT_IN.find((builtIn) => value instanceof builtIn) ?? Error;
    const copy = new Kind(this.text(value.message), cause === undefined ? {} : { cause: this.#copy(cause, depth + 1) });
    const stack = this.text(value.stack ?? "");
    Object.defineProperty(copy, "name", { value: value.name, configurable: true, writable: true });
    Object.defineProperty(copy, "stack", { value: stack, configurable: true, writable: true });
    return typeof code === "string" ? Object.assign(copy, { code }) : copy;
  }
}

function literally(literal: string): string {
  return literal.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function toPattern(secret: string): RegExp {
  const literal = literally(secret);
  return new RegExp(secret.length < SHORTEST_ANYWHERE ? `(?<![\\w-])${literal}(?![\\w-])` : literal, "g");
}

// Its own and inherited values, up to the platform's classes; `undefined` if one is an accessor, since what that gives
// cannot be known without running it. (`stack` is one in some runtimes.)
function membersOf(value: object): unknown[] | undefined {
  const members: unknown[] = [];
  let holder: object | null = value;
  while (holder !== null && !isPlatformPrototype(holder)) {
    for (const key of Reflect.ownKeys(holder)) {
      const descriptor = Object.getOwnPropertyDescriptor(holder, key);
      if (descriptor?.get !== undefined && key !== "stack") return undefined;
      members.push(descriptor?.value);
    }
    const above: unknown = Object.getPrototypeOf(holder);
    holder = typeof above === "object" ? above : null;
  }
  return members;
}

function isPlatformPrototype(value: object): boolean {
  if (!Object.hasOwn(value, "constructor")) return false;
  const made = value.constructor;
  return typeof made === "function" && Function.prototype.toString.call(made).includes("[native code]");
}

function carriesHeaders(value: object): boolean {
  const tag = Object.prototype.toString.call(value);
  return tag === "[object Request]" || tag === "[object Response]" || tag === "[object Headers]";
}
