import type { Operation } from "./operations.ts";
import { OPERATIONS } from "./operations.ts";

/** Where a request target leads. */
export interface Route {
  /** The path below the base, as it was sent; the whole path when it is outside of the base. */
  readonly path: string;
  readonly operation: Operation | undefined;
  readonly values: readonly string[];
  /** The methods that this path knows; empty when it is unknown. */
  readonly allow: readonly string[];
}

/**
 * Finds the operation of a method and a raw request target. Segments are compared as they were sent and their values
 * decoded once, so that `a%2Fb` is one value and a dot segment is a value like any other.
 */
export function findRoute(basePath: string, method: string, target: string): Route {
  const whole = pathOf(target);
  const path = whole.startsWith(`${basePath}/`) ? whole.slice(basePath.length) : undefined;
  if (path === undefined) return { path: whole, operation: undefined, values: [], allow: [] };
  const segments = path.slice(1).split("/").map(decodeSegment);
  const matches = OPERATIONS.filter(({ pattern }) => fits(pattern, segments));
  const operation = matches.find((candidate) => candidate.method === method);
  const values = segments.filter((_, index) => operation?.pattern[index] === "{}");
  return { path, operation, values: values.filter(isText), allow: matches.map((candidate) => candidate.method) };
}

/** The path of a request target: of an absolute one without its origin, and never with a query or fragment. */
export function pathOf(target: string): string {
  const [path = ""] = target.replace(/^https?:\/\/[^/?#]*/i, "").split(/[?#]/, 1);
  return path;
}

function fits(pattern: readonly string[], segments: readonly (string | undefined)[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((part, index) => (part === "{}" ? Boolean(segments[index]) : part === segments[index]));
}

/** `undefined` for what is not percent-encoded UTF-8; it fits no pattern. */
function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function isText(value: string | undefined): value is string {
  return value !== undefined;
}
