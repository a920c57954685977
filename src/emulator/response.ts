import { isBytes, isRecord } from "../core/checks/values.ts";
import type { Delivery, OutgoingResponse } from "./exchange.ts";
import type { Quota } from "./rate-limit.ts";
import type { ResolvedConventions } from "./resolve-conventions.ts";

export interface ServiceReply {
  readonly status: number;
  /** The body, as `encodeBody` takes it. */
  readonly content: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Reply extends ServiceReply {
  readonly quota: Quota;
}

/** Header fields to set (an array repeats the field), or, with `null`, to leave out. */
export type HeaderScript = Readonly<Record<string, string | readonly string[] | null>>;

interface Alteration {
  readonly headers?: HeaderScript | undefined;
  readonly delayMs?: number | undefined;
  readonly drop?: string | undefined;
  readonly cutAfterBytes?: number | undefined;
  readonly stallAfterBytes?: number | undefined;
}

export interface Envelope {
  readonly conventions: ResolvedConventions;
  readonly now: number;
  readonly windowMs: number;
  readonly requestId: string;
  readonly fault?: Alteration | undefined;
}

/** A response without what is to be done at its end. */
export type Unsettled = Omit<OutgoingResponse, "settle">;

export function codeOf(content: unknown): string | undefined {
  const code = isRecord(content) ? content["error"] : undefined;
  return typeof code === "string" ? code : undefined;
}

/** Puts a reply on the wire, with the headers of every response, in the way its fault asks for. */
export function toResponse(reply: Reply, envelope: Envelope): Unsettled {
  const { conventions, fault } = envelope;
  const body = isBodiless(reply.status) ? undefined : encodeBody(reply.content);
  const headers = new Headers(reply.headers);
  if (body !== undefined) {
    if (!headers.has("content-type")) headers.set("content-type", contentTypeOf(reply.content, conventions));
    headers.set("content-length", String(body.length));
  }
  setCommonHeaders(headers, reply.quota, envelope);
  applyHeaders(headers, fault?.headers ?? {});
  return { status: reply.status, headers, body, delivery: deliveryOf(fault, body?.length ?? 0) };
}

export function areAlike(one: Unsettled, other: Unsettled): boolean {
  const [left, right] = [one, other].map(({ status, headers, body, delivery }) => {
    const timing = `${delivery.delayMs}`; // JSON has no Infinity
    return JSON.stringify([status, [...headers], new TextDecoder().decode(body), delivery, timing]);
  });
  return left === right;
}

export function preflightResponse({ cors }: ResolvedConventions): Unsettled {
  const headers = new Headers({
    "access-control-allow-methods": "GET, POST, DELETE, PUT, PATCH",
    "access-control-allow-headers": "authorization, content-type",
    "access-control-max-age": "600",
  });
  setCorsHeaders(headers, cors);
  return { status: 204, headers, body: undefined, delivery: deliveryOf(undefined, 0) };
}

function setCommonHeaders(headers: Headers, quota: Quota, { conventions, now, windowMs, requestId }: Envelope): void {
  const { rateLimitHeaders: names, retryAfter, requestIdHeader, cors } = conventions;
  const date = now + conventions.clockOffsetMs;
  const window = names.form === "number" ? "" : `, ${quota.limit};w=${Math.ceil(windowMs / 1000)}`;
  const wait = quota.retryAfterSeconds;
  const waitUntil = wait === undefined ? undefined : new Date(date + wait * 1000).toUTCString();
  const fields: readonly (readonly [name: string | null, value: string | number | null | undefined])[] = [
    ["date", new Date(date).toUTCString()],
    [requestIdHeader, requestId],
    [names.limit, `${quota.limit}${window}`],
    [names.remaining, quota.remaining],
    [retryAfter && "retry-after", retryAfter === "date" ? waitUntil : wait],
  ];
  for (const [name, value] of fields) {
    if (name !== null && value !== null && value !== undefined) headers.set(name, `${value}`);
  }
  setCorsHeaders(headers, cors);
}

function setCorsHeaders(headers: Headers, { allowOrigin, exposeHeaders }: ResolvedConventions["cors"]): void {
  if (allowOrigin === null) return;
  headers.set("access-control-allow-origin", allowOrigin);
  if (exposeHeaders.length > 0) headers.set("access-control-expose-headers", exposeHeaders.join(", "));
}

function applyHeaders(headers: Headers, script: HeaderScript): void {
  for (const [name, value] of Object.entries(script)) {
    headers.delete(name);
    for (const one of value === null ? [] : [value].flat()) headers.append(name, one);
  }
}

/** The bytes of a response body: a string or bytes as they are, `undefined` as none, anything else as JSON. */
export function encodeBody(content: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (isBytes(content)) return new Uint8Array(content);
  const text: unknown = typeof content === "string" ? content : JSON.stringify(content);
  return typeof text === "string" ? new TextEncoder().encode(text) : undefined;
}

function contentTypeOf(content: unknown, { contentType }: ResolvedConventions): string {
  if (isBytes(content)) return "application/octet-stream";
  return typeof content === "string" ? "text/plain; charset=utf-8" : contentType;
}

function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/** A body that is not longer than what is to be sent of it stays whole. */
function deliveryOf(fault: Alteration | undefined, length: number): Delivery {
  const within = (bytes: number | undefined): number | undefined =>
    bytes !== undefined && bytes < length ? bytes : undefined;
  return {
    delayMs: fault?.delayMs ?? 0,
    dropped: fault?.drop !== undefined,
    cutAfterBytes: within(fault?.cutAfterBytes),
    stallAfterBytes: within(fault?.stallAfterBytes),
  };
}
