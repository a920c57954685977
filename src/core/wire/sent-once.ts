import { hasMethods } from "../checks/values.ts";
import type { FetchOptions } from "./fetch-options.ts";

// A platform may send a request again on a new connection, when a kept one broke. It then reports its last try alone. Node
// is not asked: its channels tell of each request.

/** A client of Deno, whose connections `fetch` uses. */
interface DenoClient {
  close(): void;
}

interface Globals {
  readonly Deno?: { createHttpClient(options: { readonly poolMaxIdlePerHost: number }): DenoClient };
  readonly Bun?: unknown;
}

/** The way on which the platform's own `fetch` sends a write at most once. */
export interface OnceWay {
  /** Options of the platform, which come after those of the application. */
  readonly options: FetchOptions;
  close(): void;
}

/**
 * The way on which a write is sent at most once, on platforms that would send it again on a kept connection; `undefined`
 * where there is none.
 *
 * | platform | `POST`, `PATCH` | `PUT`, `DELETE` |
 * |---|---|---|
 * | Deno | a new connection | a new connection |
 * | Bun | any connection | a new connection |
 * | Deno with a `client`, browsers, others | none | none |
 */
export function onceWay(method: string, { client }: FetchOptions): OnceWay | undefined {
  const { Deno, Bun } = globalThis as Globals;
  if (hasMethods(Deno, "createHttpClient") && client === undefined) {
    const own = Deno?.createHttpClient({ poolMaxIdlePerHost: 0 });
    return own && { options: { client: own }, close: () => own.close() };
  }
  if (Bun === undefined) return undefined;
  return { options: method === "POST" || method === "PATCH" ? {} : { keepalive: false }, close: () => {} };
}
