import {
  ignoreErrors,
  isObject,
  isPlainObject,
  type Kind,
  kind,
  ofKind,
  refuse,
  refusing,
  shown,
} from "../checks/checks.ts";
import { calledBy } from "../errors/caller-stack.ts";
import { ArgumentError } from "../errors/classes.ts";

/** Characters that no encoded value has, and that an address or the static parts of a path must not have. */
const FORBIDDEN = /[\\?#\u0000-\u0020\u007f]/;
const FORBIDDEN_WORDS = "must not contain a backslash, ?, #, white space or control characters";

/** An absolute http(s) URL that paths can be appended to, without trailing slashes. What is refused is never shown. */
export function checkBaseUrl(value: unknown): string {
  const text = value instanceof URL ? value.href : value;
  if (typeof text !== "string") refuse(`baseUrl must be a string or a URL, not ${shown(value)}`);
  if (FORBIDDEN.test(text)) refuse(`baseUrl ${FORBIDDEN_WORDS}`);
  const url = /^https?:\/\//i.test(text) ? ignoreErrors(() => new URL(text)) : undefined;
  if (url === undefined) {
    refuse("baseUrl must be an absolute http: or https: URL, such as https://automation.example.com/api/v1");
  }
  // The parsed URL is judged: parsers accept more spellings than a pattern knows.
  if (url.username !== "" || url.password !== "") refuse("baseUrl must not contain a user name or password");
  // Looked for at its beginning alone: a long run of slashes elsewhere would take long.
  return url.href.replace(/(?<!\/)\/+$/, "");
}

/** A token may travel in clear only within this machine, or where the caller allows it. */
export function checkTransport(baseUrl: URL, allowInsecureHttp: boolean | undefined): void {
  if (baseUrl.protocol === "https:" || allowInsecureHttp || isLoopback(baseUrl.hostname)) return;
  refuse(
    "baseUrl is plain http: to another machine, where others can read the token; use https:, or allowInsecureHttp",
  );
}

/** Whether a host is this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.*\.)?localhost|\[::1\]|127(?:\.\d+){3})$/.test(hostname);
}

/** Copies of this package (ESM, CommonJS) know each other's paths by it. */
const ENCODED: unique symbol = Symbol.for("project-automation.path");

/** A path below the base URL, made by the template tag `path`: its values are encoded, and it cannot leave the base. */
export class Path {
  /** What errors and events show: with a name in braces, or `{}`, for each value. */
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

  /** @internal As it is sent. What only inherits from a path holds nothing that could be sent. */
  get [ENCODED](): string {
    return #encoded in this ? this.#encoded : "";
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
  return calledBy(path, () =>
    refusing(ArgumentError, () => {
      if (!Array.isArray(strings) || !Array.isArray(strings.raw)) {
        refuse("path is a template tag: write path`/projects/${project}`, without parentheses");
      }
      // The text as it stands in the source: otherwise an escape in it would be lost, or stand for something else.
      const segments = values.map((value, index) => encodeSegment(value, `value ${index + 1} of the path`));
      const encoded = String.raw(strings, ...segments);
      const flaw = flawOf(encoded);
      return flaw === undefined ? new Path(strings.raw.join("{}"), encoded) : refuse(`path ${flaw}`);
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
  return isObject(value) && Object.hasOwn(value, "id") ? "; pass its .id" : "";
}

/** Percent-encodes UTF-8 as RFC 3986 has it; a lone surrogate, which has no UTF-8, is refused. */
function encodeText(value: string, what: string): string {
  // Most need no encoding.
  if (/^[\w-]*$/.test(value)) return value;
  const encoded = ignoreErrors(() => encodeURIComponent(value));
  return encoded ?? refuse(`${what} has a lone surrogate, which cannot be encoded`);
}

const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;

function flawOf(encoded: string): string | undefined {
  if (!encoded.startsWith("/")) return "must begin with /: everything stays below baseUrl";
  if (encoded.includes("//") || DOT_SEGMENT.test(encoded)) return "must not contain //, or the segments . or ..";
  return FORBIDDEN.test(encoded) ? `${FORBIDDEN_WORDS}; parameters belong in \`query\`` : undefined;
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
 * The query string of parameters, without its `?`. Each name and value is percent-encoded, so
 * that decoders of forms and of RFC 3986 read the same characters.
 */
export function encodeQuery(query: Query): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    const values: readonly unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
    const what = `query.${name}`;
    for (const single of values) {
      const encoded = encodeText(String(ofKind(single, what, PARAMETER)), what);
      pairs.push(`${encodeText(name, "a query name")}=${encoded}`);
    }
  }
  return pairs.join("&");
}
