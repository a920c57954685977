import { ANYTHING, argument, type Kind, kind, oneOf, type Shape } from "../check.ts";
import { describeType } from "../describe-type.ts";
import type { Paginator } from "../paging/paginator.ts";
import type { CallOptions, Method, Operation, Send } from "../request/operation.ts";
import { Path } from "../request/path.ts";
import { QUERY, type Query, type QueryValue } from "../request/query.ts";
import { isStandardSchema, type StandardSchema } from "../schemas/standard-schema.ts";
import { CURSOR, readInput } from "./inputs.ts";
import { type ListOptions, paginate } from "./list.ts";

/** A call of an endpoint that has no method of its own. */
export interface CustomRequest<Output = unknown> {
  /** `GET`, `HEAD` and `DELETE` are retried as reads are; `POST`, `PUT` and `PATCH` only if they were certainly not applied. */
  method: Method;
  /** Made with the template tag `path`. */
  path: Path;
  /** `undefined` leaves a parameter out, an array repeats it. */
  query?: Query | undefined;
  /** The body, sent as JSON. */
  json?: unknown;
  /** Any Standard Schema for the response's body; without one the call resolves `unknown`. Not with `HEAD`, which has none. */
  schema?: StandardSchema<Output> | undefined;
}

/** A request whose response is checked by a schema. */
interface CheckedRequest<Verb extends Method, Output> extends CustomRequest<Output> {
  method: Verb;
  schema: StandardSchema<Output>;
}

/** Sends a request of the caller's own: `client.request`. */
export interface SendCustom {
  /** With a schema: resolves its output. */
  <Output>(request: CheckedRequest<"GET" | "POST" | "PUT" | "PATCH", Output>, options?: CallOptions): Promise<Output>;
  /** A `DELETE` with a schema: resolves its output if the response has JSON, else `undefined`. */
  <Output>(request: CheckedRequest<"DELETE", Output>, options?: CallOptions): Promise<Output | undefined>;
  /** Without a schema: resolves the JSON of the response as `unknown`, `undefined` if it has no body. */
  (request: CustomRequest, options?: CallOptions): Promise<unknown>;
}

/** A walk over a list endpoint that has no method of its own. */
export interface CustomList<Item> {
  /** Made with the template tag `path`. */
  path: Path;
  /** The same on every page; a `cursor` in it is where the walk starts. */
  query?: Query | undefined;
  /** Any Standard Schema for one item. */
  schema: StandardSchema<Item>;
}

const PATH: Kind = {
  ...kind("made with the template tag path`…`", (value) => Path.encoded(value) !== undefined),
  required: true,
};
const SCHEMA: Kind = kind("a Standard Schema", isStandardSchema);

const REQUEST: Shape<CustomRequest> = {
  method: { ...oneOf("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"), required: true },
  path: PATH,
  query: ANYTHING, // checked where it is encoded
  json: ANYTHING,
  schema: SCHEMA,
};

const LIST: Shape<CustomList<unknown>> = { path: PATH, query: QUERY, schema: { ...SCHEMA, required: true } };

/** Sends a request of the caller's own. `Output` is that of the overload of `SendCustom` that the caller has chosen. */
export async function sendCustom<Output>(
  send: Send,
  request: CustomRequest<Output>,
  options: CallOptions | undefined,
): Promise<Output> {
  return send(() => customOperation(request), options);
}

/** Walks a list of the caller's own. */
export function paginateCustom<Item>(
  send: Send,
  list: CustomList<Item>,
  options: ListOptions | undefined,
): Paginator<Item> {
  return paginate(
    send,
    () => {
      const { path, query = {}, schema } = readInput<CustomList<Item>>(list, "paginate: list", LIST);
      if (query["cursor"] !== undefined) argument.value(query["cursor"], "paginate: query.cursor", CURSOR);
      return { name: "paginate", label: `GET ${path.template}`, path, query: copyOf(query), item: schema };
    },
    options,
  );
}

function customOperation<Output>(request: CustomRequest<Output>): Operation<Output> {
  const { method, path, query, json, schema } = readInput<CustomRequest<Output>>(request, "request", REQUEST);
  const isBodiless = method === "GET" || method === "HEAD";
  if (json !== undefined && isBodiless) argument.fail(`request: a ${method} has no body, so json cannot be given`);
  if (schema !== undefined && method === "HEAD") {
    argument.fail("request: the response to a HEAD has no body, so schema cannot be given");
  }
  const body = json === undefined ? undefined : toJson(json);
  return { name: "request", method, path, query, body, schema, answer: answerTo(method, schema !== undefined) };
}

function answerTo(method: Method, hasSchema: boolean): Operation<unknown>["answer"] {
  if (method === "HEAD") return "none";
  if (method === "DELETE") return "json_if_any";
  return hasSchema ? "json" : "json_or_empty";
}

/** A copy, so that changing the query later changes nothing. Values are checked where they are encoded. */
function copyOf(query: Query): Query {
  const copy: Record<string, Query[string]> = {};
  for (const [name, value] of Object.entries(query)) {
    copy[name] = Array.isArray(value) ? Array.from(value as readonly QueryValue[]) : value; // isArray forgets the type
  }
  return copy;
}

function toJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    argument.fail("request.json cannot be written as JSON", cause);
  }
  return text ?? argument.fail(`request.json cannot be written as JSON: it is ${describeType(value)}`);
}
