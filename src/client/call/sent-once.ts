import { hasMethods } from "../checks/values.ts";

// A platform may send a request again on a new connection, when a kept one broke. It then reports its last try alone.

/** A client of Deno, whose connections `fetch` uses. */
interface DenoClient {
  close(): void;
}

interface Globals {
  readonly Deno?: { createHttpClient(options: { readonly poolMaxIdlePerHost: number }): DenoClient };
  readonly Bun?: unknown;
}

/** A client of the platform without kept connections, for one write on Deno; `undefined` elsewhere. */
export function ownConnection(): DenoClient | undefined {
  const { Deno } = globalThis as Globals;
  return hasMethods(Deno, "createHttpClient") ? Deno?.createHttpClient({ poolMaxIdlePerHost: 0 }) : undefined;
}

/**
 * `true` if the platform's own `fetch` sends a write at most once. Node is not asked: its channels tell of each request.
 *
 * | platform | `POST`, `PATCH` | `PUT`, `DELETE` |
 * |---|---|---|
 * | Deno, on a connection of its own | yes | yes |
 * | Bun | yes | no |
 * | Deno with a `client`, browsers, others | no | no |
 */
export function isSentOnce(method: string, isOwnConnection: boolean): boolean {
  const isOnBun = (globalThis as Globals).Bun !== undefined;
  return isOwnConnection || (isOnBun && (method === "POST" || method === "PATCH"));
}

/** `true` for a method of a request that may change something. */
export function mayWrite(method: string): boolean {
  return method !== "GET" && method !== "HEAD" && method !== "CONNECT";
}
