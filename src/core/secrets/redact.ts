import { cut, isError, wellFormed } from "../checks/foreign.ts";
import { ignoreErrors } from "../checks/ignore-errors.ts";
import { isObject, isPlainObject, SHORTEST_SECRET } from "../checks/values.ts";
import { isBrandedError } from "../errors/automation-error.ts";
import { parseJson } from "../wire/json.ts";
import { isSecretName, REDACTED, redactionOf, type Secrets } from "./secrets.ts";

/** The text in the place of one that is too long to be looked through. */
const TOO_LONG = "[too long]";
/** The longest text that is looked through, in characters. */
const LONGEST_TEXT = 64 * 1024;
/** The longest header, code or address that is shown. */
const LONGEST_SHORT = 200;
/** So many levels of a refusal's body are shown, and so many causes of an error. */
const LEVELS_SHOWN = 32;
const CAUSES_SHOWN = 6;
const BUILT_IN = [TypeError, SyntaxError, RangeError] as const;

/** Takes secrets out of what others say: the service, the platform, a schema, a function of the caller's. */
export class Redactor {
  readonly #secrets: Secrets;
  /** Made when a text is looked through: most calls have none. */
  #redact: ((text: string) => string) | undefined;

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  /** A redactor that hides the strings and numbers of a response as well, since a schema may quote them. */
  alsoHiding(response: unknown): Redactor {
    return new Redactor({ ...this.#secrets, response });
  }

  /** A text without secrets, also where it escapes their characters. */
  text(text: string): string {
    this.#redact ??= redactionOf(this.#secrets);
    return text.length > LONGEST_TEXT ? TOO_LONG : this.#redact(wellFormed(text));
  }

  /** `true` for a text that holds a known token, or another one that begins as they do. */
  holdsToken(text: string): boolean {
    return redactionOf({ tokens: this.#secrets.tokens }, [])(text) !== text;
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

/** A text as one line of at most `max` characters, without control characters. */
export function oneLine(text: string, max: number): string {
  const line = text.replaceAll(GAPS, " ").trim();
  return line.length > max ? `${cut(line, max - 1)}…` : line;
}
