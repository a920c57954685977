import { describeType } from "../describe-type.ts";
import { ArgumentError } from "../errors/failures.ts";
import type { Paginator } from "../paging/paginator.ts";
import type { CallOptions, Method, Operation, Send } from "../request/operation.ts";
import type { Path } from "../request/path.ts";
import { checkQuery, type Query, type QueryValue } from "../request/query.ts";
import { isStandardSchema, type StandardSchema } from "../schemas/standard-schema.ts";
import { fields, refuse } from "./inputs.ts";
import { type ListOptions, paginate } from "./list.ts";

/** A call of an endpoint that has no method of its own. */
export interface CustomRequest<Output> {
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

const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] satisfies readonly Method[];

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
      const { path, query, schema } = known(list, "paginate", [
        "path",
        "query",
        "schema",
      ]) as unknown as CustomList<Item>; // checked below and in the pipeline
      if (!isStandardSchema(schema)) refuse(`paginate: schema must be a Standard Schema, not ${describeType(schema)}`);
      if (query !== undefined) checkQuery(query);
      const cursor: unknown = query?.["cursor"];
      if (cursor !== undefined && (typeof cursor !== "string" || cursor === "")) {
        refuse("paginate: query.cursor must be a non-empty string");
      }
      return { name: "paginate", path, query: copyOf(query ?? {}), item: schema };
    },
    options,
  );
}

function customOperation<Output>(request: CustomRequest<Output>): Operation<Output> {
  const keys = ["method", "path", "query", "json", "schema"];
  const { method, path, query, json, schema } = known(request, "request", keys) as unknown as CustomRequest<Output>; // checked below and in the pipeline
  if (!METHODS.includes(method)) refuse(`request: method must be one of ${METHODS.join(", ")}`);
  if (schema !== undefined && !isStandardSchema(schema)) {
    refuse(`request: schema must be a Standard Schema, not ${describeType(schema)}`);
  }
  const bodiless = method === "GET" || method === "HEAD";
  if (json !== undefined && bodiless) refuse(`request: a ${method} has no body, so json cannot be given`);
  const body = json === undefined ? undefined : toJson(json);
  const answer = method === "HEAD" ? "none" : method === "DELETE" ? "json_if_any" : "json";
  return { name: "request", method, path, query, body, schema, answer };
}

function known(value: unknown, what: string, keys: readonly string[]): Readonly<Record<string, unknown>> {
  const given = fields(value, `${what}: the first argument`);
  const unknown = Object.keys(given).find((key) => !keys.includes(key));
  if (unknown === undefined) return given;
  const shown = /^[A-Za-z]{1,30}$/.test(unknown) ? ` "${unknown}"` : "";
  return refuse(`${what}: unknown field${shown}; accepted: ${keys.join(", ")}`);
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
    throw new ArgumentError("request: json cannot be written as JSON", { outcome: "not_sent", cause });
  }
  return text ?? refuse(`request: json cannot be written as JSON: it is ${describeType(value)}`);
}
