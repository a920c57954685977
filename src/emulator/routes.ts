import { functions, required, type Shape, strings, typed } from "../core/checks/validators.ts";
import { atOnce, check, checkHeaders, headerFields, integer, TEXT } from "./checks.ts";
import type { RecordedRequest } from "./request-log.ts";
import { encodeBody, type ServiceReply } from "./response.ts";
import type { ScopeName } from "./tables.ts";

/** An endpoint of a test's own. It stands behind the same tokens, scopes, rate limit, faults and log as all others. */
export interface EmulatorRoute {
  /** Such as `"PATCH"`. */
  readonly method: string;
  /** Below the base URL, such as `/projects/{project}/labels`: a name in braces stands for one value. */
  readonly path: string;
  /** The scope that a token needs. @default any scope will do */
  readonly scope?: ScopeName | undefined;
  /**
   * Carries out a request and returns the response; not `async`. What it throws is answered 500 `emulator_error`,
   * with the message.
   */
  readonly handle: (request: RoutedRequest) => RouteResponse;
}

/** A request to an {@link EmulatorRoute}. */
export interface RoutedRequest extends RecordedRequest {
  /** The values of the path by their names, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** The response of an {@link EmulatorRoute}. */
export interface RouteResponse {
  /** From 200 to 599. @default 200, or 204 without a body */
  readonly status?: number | undefined;
  /** Header fields beside those of every response. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A string or bytes as they are, anything else as JSON. @default none */
  readonly body?: unknown;
}

const ROUTE = {
  method: required(strings("an HTTP method in capitals", (value) => /^[A-Z]+$/.test(value))),
  path: required(strings("a path such as /projects/{project}/labels", isPattern)),
  scope: TEXT,
  handle: required(functions<EmulatorRoute["handle"]>()),
} satisfies Shape<EmulatorRoute>;
const RESPONSE = {
  status: integer(200, 599),
  headers: headerFields<NonNullable<RouteResponse["headers"]>>(),
  body: typed("text, bytes or JSON", (value): value is unknown => encodeBody(value) !== undefined),
} satisfies Shape<RouteResponse>;

function isPattern(value: string): boolean {
  if (!/^(?:\/(?:[\w.~-]+|\{\w+\}))+$/.test(value)) return false;
  const names = namesIn(value);
  return new Set(names).size === names.length;
}

function namesIn(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}

/** Checks and copies a route. Throws a `TypeError` if it is malformed. */
export function parseRoute(given: EmulatorRoute): EmulatorRoute {
  return check.options(given, "route", ROUTE);
}

export function handleRoute(route: EmulatorRoute, request: RecordedRequest, values: readonly string[]): ServiceReply {
  const params = Object.fromEntries(namesIn(route.path).map((name, index) => [name, values[index] ?? ""]));
  const what = `the response of ${route.path}`;
  const response = check.options(atOnce(route.handle({ ...request, params }), what), what, RESPONSE);
  const { body, status = body === undefined ? 204 : 200, headers = {} } = response;
  checkHeaders(headers, `${what}: headers`);
  return { status, headers, content: body };
}
