import { ANYTHING, argument, type Kind, kind, oneOf, type Shape } from "../check.ts";
import { describeType } from "../describe-type.ts";
import type { Paginator } from "../paging/paginator.ts";
import type { CallOptions, Method, Operation, Send } from "../request/operation.ts";
import type { Path } from "../request/path.ts";
import { QUERY, type Query, type QueryValue } from "../request/query.ts";
import { isStandardSchema, type StandardSchema } from "../schemas/standard-schema.ts";
import { CURSOR } from "./inputs.ts";
import { type ListOptions, paginate } from "./list.ts";

/** A call of an endpoint that has no method of its own. */
export interface CustomRequest<Output> {
  /**
   * `GET`, `HEAD` and `DELETE` are retried as reads are; `POST`, `PUT` and `PATCH` only where they cannot have been
   * applied.
   */
  method: Method;
  /** Made with the template tag `path`. */
  path: Path;
  /** `undefined` leaves a parameter out, an array repeats it. */
  query?: Query | undefined;
  /** The body, sent as JSON. */
  json?: unknown;
  /** Any Standard Schema for the answer; without one the call resolves `unknown`. */
  schema?: StandardSchema<Output> | undefined;
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

const SCHEMA: Kind = kind("a Standard Schema", isStandardSchema);

const REQUEST: Shape<CustomRequest<unknown>> = {
  method: { ...oneOf("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"), required: true },
  path: ANYTHING, // checked where it is encoded, as the query is
  query: ANYTHING,
  json: ANYTHING,
  schema: SCHEMA,
};

const LIST: Shape<CustomList<unknown>> = { path: ANYTHING, query: QUERY, schema: { ...SCHEMA, required: true } };

/** Sends a request of the caller's own. */
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
      const { path, query = {}, schema } = argument.options<CustomList<Item>>(list, "paginate: list", LIST);
      if (query["cursor"] !== undefined) argument.value(query["cursor"], "paginate: query.cursor", CURSOR);
      return { name: "paginate", path, query: copyOf(query), item: schema };
    },
    options,
  );
}

function customOperation<Output>(request: CustomRequest<Output>): Operation<Output> {
  const { method, path, query, json, schema } = argument.options<CustomRequest<Output>>(request, "request", REQUEST);
  const bodiless = method === "GET" || method === "HEAD";
  if (json !== undefined && bodiless) argument.fail(`request: a ${method} has no body, so json cannot be given`);
  const body = json === undefined ? undefined : toJson(json);
  const answer = method === "HEAD" ? "none" : method === "DELETE" ? "json_if_any" : "json";
  return { name: "request", method, path, query, body, schema, answer };
}

// What the caller does to it later changes nothing. Values are checked where they are encoded.
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
