import { isRefusalOfService, isSuccessOfService } from "../core/call/outcome.ts";
import { fieldsOf } from "../core/checks/values.ts";
import { refusalClass } from "../core/errors/classes.ts";
import { isSuccess as isSuccessStatus } from "../core/wire/head.ts";
import { labelOf, type Reply } from "./wire.ts";

export interface ListPage {
  readonly data: readonly unknown[];
  /** `undefined` if the field is missing. */
  readonly nextCursor: unknown;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function isSuccess({ status }: Reply): boolean {
  return isSuccessStatus(status);
}

/** Returns whether a response is the service's, by its body: a 5xx or a page of a proxy is not. */
export function isOfService({ status, text, json, request }: Reply): boolean {
  if (!isSuccessStatus(status)) return status < 500 && isRefusalOfService(json);
  return isSuccessOfService({ text, isWhole: true }, request.method !== "DELETE") === true;
}

export function pageOf(reply: Reply): ListPage | undefined {
  const fields = fieldsOf(reply.json);
  const { data, next_cursor: nextCursor } = fields;
  return isSuccess(reply) && Array.isArray(data) ? { data, nextCursor, fields } : undefined;
}

/** The cursor to follow; `undefined` at the end of the list. */
export function cursorOf(page: ListPage | undefined): string | undefined {
  return typeof page?.nextCursor === "string" && page.nextCursor !== "" ? page.nextCursor : undefined;
}

/**
 * The id of a record, as a path has it; `undefined` if there is none. A number is no id by the API documentation, which is a finding
 * of its own: it must not hide the others.
 */
export function idOf(record: unknown): string | undefined {
  const { id } = fieldsOf(record);
  if (typeof id === "number") return String(id);
  return typeof id === "string" && id !== "" ? id : undefined;
}

export function idsOf(records: readonly unknown[]): string[] {
  return records.flatMap((record) => idOf(record) ?? []);
}

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

/** Why nothing can be learned from a response to a list call; `undefined` if it is a list. */
export function problemOfRead(reply: Reply, scope: string): string | undefined {
  if (reply.status === 401) return `the token is refused (${outlineOf(reply)})`;
  if (reply.status === 403) return `the token or its owner lacks ${scope} (${outlineOf(reply)})`;
  if (pageOf(reply) !== undefined) return undefined;
  return `${labelOf(reply.request)} answered ${outlineOf(reply)}${isSuccess(reply) ? ", not a list" : ""}`;
}

/** True for a value that looks like one of a vocabulary, as `in_progress` does. */
export function isWord(value: string): boolean {
  return /^[A-Za-z]+(?:[_-][A-Za-z]+){0,3}$/.test(value) && value.length <= 30;
}

/** True if there is no such endpoint; any other refusal may have another reason. */
export function isAbsent({ status }: Reply): boolean {
  return status === 404 || status === 405;
}

export function errorOf(status: number): string {
  return new (refusalClass(status))("").name;
}
