export interface Endpoint {
  readonly method: string;
  /** Below the base URL; `{}`, or a name in braces, stands for one value. */
  readonly path: string;
  /** Without one, any scope will do. */
  readonly scope?: string;
  /** The status of success; `conventions.successStatus` replaces it. */
  readonly success: number;
}

/** The endpoints of the API documentation (section 4), and `issues.list`, which is there only with the option `listIssues`. */
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

export type Addressed = Pick<Endpoint, "method" | "path">;

export interface Route<Found> {
  /** The path below the base, as it was sent; the whole path if it is outside of the base. */
  readonly path: string;
  readonly endpoint: Found | undefined;
  /** The values of the path, decoded, in order. */
  readonly values: readonly string[];
  /** The methods that this path accepts; empty if the path is unknown. */
  readonly allow: readonly string[];
}

/** The endpoints of the emulator. Of several that fit alike, the first is found. */
interface Served<Found extends Addressed> {
  readonly basePath: string;
  readonly endpoints: readonly Found[];
}

/**
 * Finds the endpoint of a method and a raw request target. Segments are compared as they were sent and their values
 * decoded once, so that `a%2Fb` is one value and a dot segment is a value like any other. HEAD finds GET.
 */
export function findRoute<Found extends Addressed>(
  { basePath, endpoints }: Served<Found>,
  method: string,
  target: string,
): Route<Found> {
  const whole = pathOf(target);
  if (!whole.startsWith(`${basePath}/`)) return { path: whole, endpoint: undefined, values: [], allow: [] };
  const path = whole.slice(basePath.length);
  const segments = path.split("/").map(decodeSegment);
  const matches = endpoints.filter((endpoint) => fits(endpoint.path.split("/"), segments));
  const wanted = method === "HEAD" ? "GET" : method;
  const endpoint = matches.find((match) => match.method === wanted);
  const pattern = endpoint?.path.split("/") ?? [];
  const values = segments.flatMap((segment, index) => (isValue(pattern[index]) ? (segment ?? []) : []));
  return { path, endpoint, values, allow: [...new Set(matches.map((match) => match.method))] };
}

function isValue(part: string | undefined): boolean {
  return part?.startsWith("{") === true;
}

/** The path of a request target: of an absolute one without its origin, and never with a query or fragment. */
export function pathOf(target: string): string {
  const [path = ""] = target.replace(/^https?:\/\/[^/?#]*/i, "").split(/[?#]/, 1);
  return path;
}

export function queryOf(target: string): string {
  const start = target.indexOf("?");
  return start === -1 ? "" : target.slice(start + 1);
}

function fits(pattern: readonly string[], segments: readonly (string | undefined)[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((part, index) => (isValue(part) ? Boolean(segments[index]) : part === segments[index]));
}

/** `undefined` if the segment is not percent-encoded UTF-8; it fits no pattern. */
function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
