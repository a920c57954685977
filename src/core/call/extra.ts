import { invalid } from "../checks/invalid-input.ts";
import { isRecord } from "../checks/values.ts";
import { encodeQuery } from "../wire/query.ts";
import type { Operation } from "./operation.ts";

/**
 * Adds `extra` of the call's options to its query and its body. A name that the method sends itself is refused, as is a body
 * where there is none.
 */
export function addExtra<Output>(operation: Operation<Output>): Operation<Output> {
  const { extra } = operation.options;
  if (extra === undefined) return operation;
  const { fields, json } = operation;
  if (fields === undefined) invalid("extra is for methods of the client: this request has query and json of its own");
  const { query = {}, json: members = {} } = extra;
  if (extra.json !== undefined && !isRecord(json)) invalid("options.extra.json: this method sends no body");
  for (const [place, names] of Object.entries({ query, json: members })) {
    const own = Object.keys(names).find((name) => fields.includes(name));
    if (own !== undefined) invalid(`options.extra.${place} must not have ${own}, which the method sends itself`);
  }
  const queries = [operation.query, encodeQuery(query)].filter((part) => part);
  return Object.assign(operation, {
    query: queries.join("&"),
    json: extra.json === undefined ? json : { ...(json as object), ...members }, // a record, checked above
  });
}
