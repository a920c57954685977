/** HTTP methods that the client sends. */
export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

/** `true` for a method that changes something, so that a request sent twice might matter. `CONNECT` opens a tunnel. */
export function isWrite(method: string): boolean {
  return method !== "GET" && method !== "HEAD" && method !== "CONNECT";
}
