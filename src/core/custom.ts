import type { ApiPromise } from "./call/api-promise.ts";
import type { CallOptions } from "./call/call-options.ts";
import type { OperationFields } from "./call/operation.ts";
import { parseCallOptions } from "./call/settings.ts";
import { anyValidator, isStandardSchema, type StandardSchema } from "./call/standard-schema.ts";
import { invalid } from "./checks/invalid-input.ts";
import { ANYTHING, oneOf, parseOptions, parseValue, required, type Shape, typed } from "./checks/validators.ts";
import { CURSOR, type ListOperation, type ListOptions } from "./list.ts";
import { pageValidator } from "./paging/page.ts";
import type { Paginator } from "./paging/paginator.ts";
import { isWrite, type Method } from "./wire/method.ts";
import { isPath, type Path } from "./wire/path.ts";
import { encodeQuery, QUERY, type Query } from "./wire/query.ts";

/** A value that can be written as JSON: no promise, stream, collection, form or function, as far as types can tell. */
export type JsonInput =
  | string
  | number
  | boolean
  | null
  | readonly unknown[]
  | { readonly [name: string]: unknown }
  | (object & NotJson);

interface NotJson {
  readonly bind?: never;
  readonly then?: never;
  readonly arrayBuffer?: never;
  readonly [Symbol.iterator]?: never;
  readonly [Symbol.asyncIterator]?: never;
}

/** A call of an endpoint that has no method of its own. */
export interface CustomRequest<Output = unknown> {
  /** `GET`, `HEAD` and `DELETE` are retried as reads are; `POST`, `PUT` and `PATCH` only if they were certainly not applied. */
  method: Method;
  /** Made with the template tag `path`. */
  path: Path;
  /** `undefined` leaves a parameter out, an array repeats it. */
  query?: Query | undefined;
  /**
   * The body, sent as JSON: a JSON value at every level. Values that `JSON.stringify` turns into `{}` or `null`, or leaves out
   * (a `FormData`, a `Map`, a promise, `NaN`), are an `ArgumentError`; `toJSON` is obeyed.
   */
  json?: JsonInput | undefined;
  /** Any Standard Schema for the response's body; without one the call resolves `unknown`. Not with `HEAD`, which has none. */
  schema?: StandardSchema<Output> | undefined;
}

interface CheckedRequest<Verb extends Method, Output> extends CustomRequest<Output> {
  method: Verb;
  schema: StandardSchema<Output>;
}

/** Sends a request of the caller's own: `client.request`. */
export interface SendCustom {
  /** With a schema: resolves its output. */
  <Output>(
    request: CheckedRequest<"GET" | "POST" | "PUT" | "PATCH", Output>,
    options?: CallOptions,
  ): ApiPromise<Output>;
  /** A `DELETE` with a schema: resolves its output if the response has JSON, else `undefined`. */
  <Output>(request: CheckedRequest<"DELETE", Output>, options?: CallOptions): ApiPromise<Output | undefined>;
  /** Without a schema: resolves the JSON of the response as `unknown`, `undefined` if it has no body. */
  (request: CustomRequest, options?: CallOptions): ApiPromise<unknown>;
}

/** A walk over a list endpoint that has no method of its own. */
export interface CustomList<Item = unknown> {
  /** Made with the template tag `path`. */
  path: Path;
  /** The same on every page; a `cursor` in it is where the walk starts. */
  query?: Query | undefined;
  /** Any Standard Schema for one item; without one items are `unknown`. */
  schema?: StandardSchema<Item> | undefined;
}

interface CheckedList<Item> extends CustomList<Item> {
  schema: StandardSchema<Item>;
}

/** Walks a list of the caller's own: `client.paginate`. */
export interface PaginateCustom {
  /** With a schema: items are its output. */
  <Item>(list: CheckedList<Item>, options?: ListOptions): Paginator<Item>;
  /** Without a schema: items are the JSON of the response, as `unknown`. */
  (list: CustomList, options?: ListOptions): Paginator<unknown>;
}

const PATH = required(typed("made with path`…`, which this package exports", isPath));
const SCHEMA = typed("a Standard Schema", isStandardSchema);

const REQUEST = {
  method: required(oneOf("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")),
  path: PATH,
  query: QUERY,
  json: ANYTHING,
  schema: SCHEMA,
} satisfies Shape<CustomRequest>;

const LIST = { path: PATH, query: QUERY, schema: SCHEMA } satisfies Shape<CustomList>;

/** The bodies that responses have, where the method decides. */
const EXPECTED: Readonly<Record<string, "nothing" | "json_if_any">> = { HEAD: "nothing", DELETE: "json_if_any" };

export function describeRequest<Output>(
  request: CustomRequest<Output>,
  given: CallOptions | undefined,
): OperationFields<Output> {
  const { method, path, query = {}, json, schema } = parseOptions(request, "request", REQUEST);
  if (json !== undefined && !isWrite(method)) {
    invalid(`a ${method} has no body, so json cannot be given`);
  }
  if (schema !== undefined && method === "HEAD") {
    invalid("the response to a HEAD has no body, so schema cannot be given");
  }
  const options = parseCallOptions(given);
  const label = `${method} ${path.template}`;
  const output = schema as StandardSchema<Output> | undefined; // that of the overload
  return { label, method, path, query: encodeQuery(query), json, schema: output, expects: EXPECTED[method], options };
}

export function describeList<Item>(list: CustomList<Item>, options: ListOptions | undefined): ListOperation<Item> {
  const { path, query = {}, ...parsed } = parseOptions(list, "list", LIST);
  const schema = (parsed.schema ?? anyValidator) as StandardSchema<Item>; // that of the overload
  if (query["cursor"] !== undefined) parseValue(query["cursor"], "query.cursor", CURSOR);
  return { label: `GET ${path.template}`, path, query, schema: pageValidator(schema), options };
}
