/** The bytes of a response body: a string or bytes as they are, `undefined` as none, anything else as JSON. */
export function encodeBody(content: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (content instanceof Uint8Array) return new Uint8Array(content);
  const text: unknown = typeof content === "string" ? content : JSON.stringify(content);
  return typeof text === "string" ? new TextEncoder().encode(text) : undefined;
}

/** The content type that belongs to what {@link encodeBody} makes of `content`. */
export function contentTypeOf(content: unknown): string {
  if (content instanceof Uint8Array) return "application/octet-stream";
  return typeof content === "string" ? "text/plain; charset=utf-8" : "application/json; charset=utf-8";
}

/** Whether HTTP forbids a body with this status. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

const CODES: ReadonlyMap<number, string> = new Map([
  [400, "bad_request"],
  [401, "unauthorized"],
  [403, "forbidden"],
  [404, "not_found"],
  [408, "request_timeout"],
  [409, "conflict"],
  [422, "invalid_request"],
  [429, "too_many_requests"],
  [500, "internal_error"],
  [502, "bad_gateway"],
  [503, "service_unavailable"],
  [504, "gateway_timeout"],
]);

/** The body of a scripted status that brings none of its own: an error from 400 on, else nothing. */
export function scriptedBody(status: number): unknown {
  if (status < 400) return undefined;
  return { error: CODES.get(status) ?? `status_${status}`, message: "a scripted fault" };
}
