import { isPlainObject, type Kind, kind, ofKind, refuse, refusing, shown } from "../base/check.ts";
import { beginStackInCaller } from "../errors/caller-stack.ts";
import { ArgumentError } from "../errors/client-errors.ts";

/** Copies of this package (ESM, CommonJS) know each other's paths by it. */
const ENCODED: unique symbol = Symbol.for("project-automation.path");

/** A path below the base URL, made by the template tag `path`: its values are encoded, and it cannot leave the base. */
export class Path {
  /** What errors and events show: with a name in braces, or `{}`, for each value. */
  readonly template: string;
  /** As it is sent. Not printed: it may hold anything. */
  declare readonly [ENCODED]: string;

  /** Not for callers: use the tag. */
  constructor(template: string, encoded: string) {
    this.template = template;
    Object.defineProperty(this, ENCODED, { value: encoded });
    Object.freeze(this);
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
  try {
    return refusing(ArgumentError, () => {
      if (!Array.isArray(strings) || !Array.isArray(strings.raw)) {
        refuse("path is a template tag: write path`/projects/${project}`, without parentheses");
      }
      const segments = values.map((value, index) => ({ name: "", value, what: `value ${index + 1} of the path` }));
      return pathOf(strings, segments);
    });
  } catch (error) {
    throw beginStackInCaller(error, path);
  }
}

/**
 * As `path`, for documented operations: each value has a name, which stands in the template that errors and events show.
 * What is wrong with a value is refused in its name. Written as namedPath`/projects/${{ project: "web" }}/issues`.
 */
export function namedPath(
  strings: TemplateStringsArray,
  ...values: readonly Readonly<Record<string, unknown>>[]
): Path {
  return pathOf(
    strings,
    values.flatMap((named) => Object.entries(named).map(([name, value]) => ({ name, value, what: name }))),
  );
}

interface Segment {
  /** `""` without one. */
  readonly name: string;
  readonly value: unknown;
  /** What messages call it. */
  readonly what: string;
}

function pathOf({ raw }: TemplateStringsArray, segments: readonly Segment[]): Path {
  let template = "";
  let encoded = "";
  // What stands in the source: an escape in it would be lost, or stand for something else.
  for (const [index, part] of raw.entries()) {
    template += part;
    encoded += part;
    const segment = segments[index];
    if (segment === undefined) continue;
    template += `{${segment.name}}`;
    encoded += encodeSegment(segment.value, segment.what);
  }
  const flaw = flawOf(encoded);
  if (flaw !== undefined) refuse(`path ${flaw}`);
  return new Path(template, encoded);
}

/** Whether a value is a path that a copy of this package has made. */
export function isPath(value: unknown): value is Path {
  const { template, [ENCODED]: encoded } = Object(value) as Partial<Path>; // any value can be asked
  // The text is looked at again: what anybody else put there could lead anywhere.
  return typeof template === "string" && typeof encoded === "string" && flawOf(encoded) === undefined;
}

/** A path as it is sent. */
export function encodePath(path: Path): string {
  return path[ENCODED];
}

/** One path segment from a value, encoded once. `what` names the value in messages. */
export function encodeSegment(value: unknown, what: string): string {
  if (typeof value !== "string") refuse(`${what} must be a string, not ${shown(value)}${hintFor(value)}`);
  if (value === "" || value === "." || value === "..") {
    refuse(`${what} must not be ${JSON.stringify(value)}: it would address another endpoint`);
  }
  return encodeText(value, what);
}

function hintFor(value: unknown): string {
  if (typeof value === "number") return "; write String(value)";
  return typeof value === "object" && value !== null && Object.hasOwn(value, "id") ? "; pass its .id" : "";
}

/** Percent-encodes UTF-8 as RFC 3986 has it; a lone surrogate, which has no UTF-8, is refused. */
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

/** What stands in no encoded value, and must not in the parts that are written as they are. */
const FORBIDDEN = /[\\?#\u0000-\u0020\u007f]/;

function flawOf(encoded: string): string | undefined {
  if (!encoded.startsWith("/")) return "must begin with /: everything stays below baseUrl";
  if (encoded.includes("//") || DOT_SEGMENT.test(encoded)) return "must not contain //, or the segments . or ..";
  if (FORBIDDEN.test(encoded)) {
    return "must not contain a backslash, ?, #, white space or control characters; parameters belong in `query`";
  }
  return undefined;
}

/** One value of a query parameter. */
export type QueryValue = string | number | boolean;

/** Query parameters: `undefined` leaves one out, an array repeats it. `null` is refused. */
export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>;

/** Not a `Map` or `URLSearchParams`, which have no parameters of their own. */
export const QUERY: Kind = kind("a plain object of parameters", isPlainObject);

const PARAMETER: Kind = kind(
  "a string, a finite number, a boolean, or an array of these",
  (value) => ["string", "boolean"].includes(typeof value) || Number.isFinite(value),
);

/**
 * The query string of parameters, with its `?`, or `""` where there are none. Each name and value is percent-encoded, so
 * that decoders of forms and of RFC 3986 read the same characters.
 */
export function encodeQuery(query: Query | undefined): string {
  if (query === undefined) return "";
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    const values: readonly unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
    for (const single of values) pairs.push(`${encodeText(name, "a query name")}=${encodeValue(name, single)}`);
  }
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function encodeValue(name: string, value: unknown): string {
  const what = `query.${name}`;
  return encodeText(String(ofKind(value, what, PARAMETER)), what);
}
