import { describeType } from "../describe-type.ts";
import { ArgumentError } from "../errors/client-errors.ts";

/** A path below the base URL, made by the template tag `path`: its values are encoded, and it cannot leave the base. */
export class Path {
  /** As it is sent. */
  readonly #encoded: string;
  /** What errors and events show: with a name in braces, or `{}`, for each value. */
  readonly template: string;

  /** Not for callers: use the tag. */
  constructor(template: string, encoded: string) {
    this.template = template;
    this.#encoded = encoded;
  }

  /** The encoded path, or `undefined` for anything that the tag of this copy of the package has not made. */
  static encoded(value: unknown): string | undefined {
    return typeof value === "object" && value !== null && #encoded in value ? value.#encoded : undefined;
  }
}

/**
 * Template tag for paths. Each value is percent-encoded once, as one segment, and never normalised or trimmed:
 * `a/b` becomes `a%2Fb`. Throws `ArgumentError` for a value that is not a string, is `""`, `"."` or `".."`, or has a
 * lone surrogate, and for static parts with dot segments, `//`, backslashes, a query, a fragment or a scheme.
 *
 * @example
 * await client.request({ method: "GET", path: path`/projects/${project}/issues` });
 */
export function path(strings: TemplateStringsArray, ...values: readonly string[]): Path {
  if (!Array.isArray(strings) || !Array.isArray(strings.raw)) {
    refuse("path is a template tag: write path`/projects/${project}`, without parentheses");
  }
  // What stands in the source: an escape in it would be lost, or stand for something else.
  const parts: readonly string[] = strings.raw;
  const encoded = parts.map((part, index) =>
    index < values.length ? part + encodeSegment(values[index], `value ${index + 1} of the path`) : part,
  );
  const whole = encoded.join("");
  const flaw = flawOf(parts, whole);
  if (flaw !== undefined) refuse(`path ${flaw}`);
  return new Path(parts.join("{}"), whole);
}

/** The names in the braces of a template. */
type NamesIn<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/**
 * The path of a documented operation. Errors and events show `template` as it is; each value is encoded as by `path`.
 *
 * @param operation names the call in errors, such as `"issues.create"`
 * @param template the contract's, such as `/projects/{project}/issues`
 * @throws `ArgumentError` for a value that is not a valid path segment
 */
export function namedPath<Template extends string>(
  operation: string,
  template: Template,
  values: Readonly<Record<NamesIn<Template>, string>>,
): Path {
  const named: Readonly<Record<string, string>> = values;
  const encoded = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeSegment(named[name], `${operation}: ${name}`),
  );
  return new Path(template, encoded);
}

/** A path as it is sent. Anything that the tag has not made is an `ArgumentError`: it could lead anywhere. */
export function encodePath(value: unknown): string {
  const encoded = Path.encoded(value);
  if (encoded !== undefined) return encoded;
  return refuse(`path must be made with the template tag path\`…\`, not ${describeType(value)}`);
}

/** One path segment from a value, encoded once. `what` names the value in the error. */
export function encodeSegment(value: unknown, what: string): string {
  if (typeof value !== "string") {
    const hint = typeof value === "number" ? "; write String(value)" : "";
    refuse(`${what} must be a string, not ${describeType(value)}${hint}`);
  }
  if (value === "" || value === "." || value === "..") {
    refuse(`${what} must not be ${JSON.stringify(value)}: it would address another endpoint`);
  }
  return encodeText(value, what);
}

/** Percent-encodes UTF-8 as RFC 3986 has it; a lone surrogate, which has no UTF-8, is an `ArgumentError`. */
export function encodeText(value: string, what: string): string {
  // Most need no encoding.
  if (/^[\w-]*$/.test(value)) return value;
  try {
    return encodeURIComponent(value);
  } catch {
    return refuse(`${what} has a lone surrogate, which cannot be encoded`);
  }
}

const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;

/** What must not stand in the parts that are written as they are. */
const FORBIDDEN = /[\\?#\u0000-\u0020\u007f]/;

function flawOf(parts: readonly string[], encoded: string): string | undefined {
  if (!encoded.startsWith("/")) return "must begin with /: everything stays below baseUrl";
  if (encoded.includes("//") || DOT_SEGMENT.test(encoded)) return "must not contain //, or the segments . or ..";
  if (parts.some((part) => FORBIDDEN.test(part))) {
    return "must not contain a backslash, ?, #, white space or control characters; parameters belong in `query`";
  }
  return undefined;
}

// Not by way of `argument`: who imports only the tag gets no more than this.
function refuse(message: string): never {
  throw new ArgumentError(message, { outcome: "not_sent" });
}
