import { invalid } from "../checks/invalid-input.ts";
import { describeValue, fieldsOf, isObject } from "../checks/values.ts";
import { asErrorClass } from "../errors/as-error-class.ts";
import { withCallerStack } from "../errors/caller-stack.ts";
import { ArgumentError } from "../errors/classes.ts";
import { encodeText, forbiddenIn } from "./url.ts";

/** Copies of this package (ESM, CommonJS) know each other's paths by it. */
const ENCODED: unique symbol = Symbol.for("project-automation.path");

/** A path below the base URL, made by the template tag `path`: its values are encoded, and it cannot leave the base. */
export class Path {
  /** The path as errors and events show it: with a name in braces, or `{}`, for each value. */
  readonly template: string;
  /** Not printed: it may hold anything. */
  readonly #encoded: string;

  /** @internal Not for callers: use the tag. */
  constructor(template: string, encoded: string) {
    this.template = template;
    this.#encoded = encoded;
    Object.freeze(this);
  }

  /** Tells it from any other object, for compilers and prints. */
  get [Symbol.toStringTag](): "Path" {
    return "Path";
  }

  /** @internal As it is sent. An object that only inherits from a path holds nothing that could be sent. */
  get [ENCODED](): string {
    return #encoded in this ? this.#encoded : "";
  }
}

/**
 * Template tag for paths. Each value is percent-encoded once, as one segment, and never normalised or trimmed:
 * `a/b` becomes `a%2Fb`. Throws `ArgumentError` for a value that is not a string, has an empty, `.` or `..` segment between
 * slashes or backslashes, or a lone surrogate. The same for static parts with dot segments, `//`, backslashes, a query, a
 * fragment, a scheme or a placeholder.
 *
 * @example
 * await client.request({ method: "GET", path: path`/projects/${project}/issues` });
 */
export function path(strings: TemplateStringsArray, ...values: readonly string[]): Path {
  return withCallerStack(path, () =>
    asErrorClass(ArgumentError, () => {
      if (!Array.isArray(strings) || !Array.isArray(strings.raw)) {
        invalid("path is a template tag: write path`/projects/${project}`, without parentheses");
      }
      // The text as it stands in the source: otherwise an escape in it would be lost, or stand for something else.
      const segments = values.map((value, index) => encodeSegment(value, `value ${index + 1} of the path`));
      const encoded = String.raw(strings, ...segments);
      const problem = problemOf(encoded);
      return problem === undefined ? new Path(strings.raw.join("{}"), encoded) : invalid(`path ${problem}`);
    }),
  );
}

/** The path of a documented operation: its template, with a value for each name in braces. */
export function pathOf(template: string, values: Readonly<Record<string, unknown>> = {}): Path {
  let encoded = template;
  for (const [name, value] of Object.entries(values)) {
    // Nothing in an encoded value has a meaning to replace, and no name follows in it.
    encoded = encoded.replace(`{${name}}`, encodeSegment(value, name));
  }
  return new Path(template, encoded);
}

export function isPath(value: unknown): value is Path {
  const { template, [ENCODED]: encoded } = fieldsOf(value);
  // The text is looked at again: what anybody else put there could lead anywhere.
  return typeof template === "string" && typeof encoded === "string" && problemOf(encoded) === undefined;
}

export function encodePath(path: Path): string {
  return path[ENCODED];
}

export function encodeSegment(value: unknown, what: string): string {
  if (typeof value !== "string") invalid(`${what} must be a string, not ${describeValue(value)}${hintFor(value)}`);
  if (value === "") invalid(`${what} must not be empty`);
  // Common proxies decode %2F, and then normalise the path.
  if (/(?:^|[/\\])\.{0,2}(?:[/\\]|$)/.test(value)) {
    const instead = /^[iv]/.test(what) ? "such an id cannot pass common proxies" : "pass its id";
    invalid(`${what} must not have an empty, . or .. segment, which addresses another endpoint: ${instead}`);
  }
  return encodeText(value, what);
}

function hintFor(value: unknown): string {
  if (typeof value === "number") return "; write String(value)";
  return isObject(value) && Object.hasOwn(value, "id") ? "; pass its .id" : "";
}

const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;

function problemOf(encoded: string): string | undefined {
  if (!encoded.startsWith("/")) return "must begin with /: everything stays below baseUrl";
  if (encoded.includes("//") || DOT_SEGMENT.test(encoded)) return "must not contain //, or the segments . or ..";
  const problem = forbiddenIn(encoded);
  return problem?.endsWith("?") ? `${problem}: parameters belong in \`query\`` : problem;
}
