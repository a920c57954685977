/** One row of the endpoint table. */
export interface Endpoint {
  readonly method: string;
  /** Below the base URL; `{}` stands for one value. */
  readonly path: string;
  /** Without one, any scope will do. */
  readonly scope?: string;
  /** The status of success; `conventions.successStatus` replaces it. */
  readonly success: number;
}

/** The endpoints of the contract (section 4), and `issues.list`, which is there only with the option `listIssues`. */
export const ENDPOINTS = {
  "tokens.create": { method: "POST", path: "/me/tokens", success: 201 },
  "tokens.rotate": { method: "POST", path: "/me/tokens/{}/rotate", success: 201 },
  "tokens.revoke": { method: "DELETE", path: "/me/tokens/{}", success: 204 },
  "projects.list": { method: "GET", path: "/projects", scope: "projects:read", success: 200 },
  "issues.create": { method: "POST", path: "/projects/{}/issues", scope: "issues:write", success: 201 },
  "issues.list": { method: "GET", path: "/projects/{}/issues", scope: "issues:read", success: 200 },
  "sessions.list": { method: "GET", path: "/projects/{}/sessions", scope: "sessions:read", success: 200 },
  "sessions.get": { method: "GET", path: "/sessions/{}", scope: "sessions:read", success: 200 },
} as const satisfies Readonly<Record<string, Endpoint>>;

/** The operations, by the names that the log, the faults and the conventions use. */
export type OperationName = keyof typeof ENDPOINTS;

// Object.keys is typed as string[]; these are the keys of the literal above.
export const OPERATION_NAMES: readonly OperationName[] = Object.keys(ENDPOINTS) as OperationName[];

/** Where a request target leads. */
export interface Route {
  /** The path below the base, as it was sent; the whole path if it is outside of the base. */
  readonly path: string;
  readonly operation: OperationName | undefined;
  /** The values of the path, decoded, in order. */
  readonly values: readonly string[];
  /** The methods that this path accepts; empty if the path is unknown. */
  readonly allow: readonly string[];
}

/** What the emulator serves. */
export interface Served {
  readonly basePath: string;
  readonly operations: readonly OperationName[];
}

/**
 * Finds the operation of a method and a raw request target. Segments are compared as they were sent and their values
 * decoded once, so that `a%2Fb` is one value and a dot segment is a value like any other.
 */
export function findRoute({ basePath, operations }: Served, method: string, target: string): Route {
  const whole = pathOf(target);
  if (!whole.startsWith(`${basePath}/`)) return { path: whole, operation: undefined, values: [], allow: [] };
  const path = whole.slice(basePath.length);
  const segments = path.split("/").map(decodeSegment);
  const matches = operations.filter((name) => fits(ENDPOINTS[name].path.split("/"), segments));
  const operation = matches.find((name) => ENDPOINTS[name].method === method);
  const pattern = operation === undefined ? [] : ENDPOINTS[operation].path.split("/");
  const values = segments.flatMap((segment, index) => (pattern[index] === "{}" ? (segment ?? []) : []));
  return { path, operation, values, allow: matches.map((name) => ENDPOINTS[name].method) };
}

/** The path of a request target: of an absolute one without its origin, and never with a query or fragment. */
export function pathOf(target: string): string {
  const [path = ""] = target.replace(/^https?:\/\/[^/?#]*/i, "").split(/[?#]/, 1);
  return path;
}

/** The query of a request target, without its question mark. */
export function queryOf(target: string): string {
  const start = target.indexOf("?");
  return start === -1 ? "" : target.slice(start + 1);
}

function fits(pattern: readonly string[], segments: readonly (string | undefined)[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((part, index) => (part === "{}" ? Boolean(segments[index]) : part === segments[index]));
}

/** `undefined` if the segment is not percent-encoded UTF-8; it fits no pattern. */
function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
