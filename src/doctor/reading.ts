import { parseJson } from "../request/json.ts";
import { labelOf, type Reply } from "./wire.ts";

/** The list envelope, as far as it is one. */
export interface ListPage {
  readonly data: readonly unknown[];
  /** `undefined` if the field is missing. */
  readonly nextCursor: unknown;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The parsed JSON of a body; `undefined` if it is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** `value` as an object that is not an array; of anything else, no fields. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  // Any object can be read by its keys.
  return isObject(value) ? (value as Record<string, unknown>) : {};
}

export function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isSuccess({ status }: Reply): boolean {
  return status >= 200 && status < 300;
}

/** The page of a list in a successful response; `undefined` if there is none. */
export function pageOf(reply: Reply): ListPage | undefined {
  const fields = fieldsOf(reply.json);
  const { data, next_cursor: nextCursor } = fields;
  return isSuccess(reply) && Array.isArray(data) ? { data, nextCursor, fields } : undefined;
}

/** The cursor to follow; `undefined` at the end of the list. */
export function cursorOf(page: ListPage | undefined): string | undefined {
  return typeof page?.nextCursor === "string" && page.nextCursor !== "" ? page.nextCursor : undefined;
}

/** The ids of records, of those that have one. */
export function idsOf(records: readonly unknown[]): string[] {
  return records.map((record) => fieldsOf(record)["id"]).filter((id) => typeof id === "string");
}

/** The `error` of an error body. */
export function codeOf({ json }: Reply): string | undefined {
  const { error } = fieldsOf(json);
  return typeof error === "string" ? error : undefined;
}

/** A response in a few words: `404 not_found`, `302 to login.example.com/sign-in`, `200 text/html`. */
export function outlineOf(reply: Reply): string {
  const { status, headers, json } = reply;
  if (status >= 300 && status < 400) return `${status} to ${destinationOf(headers.get("location"))}`;
  if (json !== undefined) return [status, codeOf(reply)].filter(Boolean).join(" ");
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  return reply.text === "" ? `${status} without a body` : `${status} ${type.trim() || "of no content type"}`;
}

// Without the query: it may hold a state or a token of the login.
function destinationOf(location: string | null): string {
  if (location === null) return "nowhere";
  return location.replace(/^https?:\/\/(?:[^/?#]*@)?/i, "").replace(/[?#].*$/s, "");
}

/** Why nothing can be learned from a response to a read; `undefined` if it is a success with JSON. */
export function flawOfRead(reply: Reply, scope: string): string | undefined {
  if (reply.status === 401) return `the token is refused (${outlineOf(reply)})`;
  if (reply.status === 403) return `the token or its owner lacks ${scope} (${outlineOf(reply)})`;
  if (!isSuccess(reply) || reply.json === undefined) {
    return `${labelOf(reply.request)} was answered ${outlineOf(reply)}`;
  }
  return undefined;
}
