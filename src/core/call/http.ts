import ky, { type BeforeRequestHook, type Options as KyOptions } from "ky";
import { describeValue, hasMethods } from "../checks/values.ts";
import type { Fault } from "../errors/connection-fault.ts";
import { type FetchOptions, withoutCaches } from "../wire/fetch-options.ts";
import type { FetchInit, HttpRequest, SendHttp } from "../wire/http-request.ts";
import { isWrite } from "../wire/method.ts";
import { watchWrite } from "./write-evidence.ts";

export class HttpFailure implements Fault {
  readonly cause: unknown;
  readonly stage: Fault["stage"];
  /** `fetch` was not called, or the platform shows that nothing of the request was processed. */
  readonly isUnsent: boolean;
  /** A browser is certain that it has no network. */
  readonly isOffline: boolean = currentNavigator().onLine === false;

  constructor(cause: unknown, stage: Fault["stage"], isUnsent = stage === "making") {
    this.cause = cause;
    this.stage = stage;
    this.isUnsent = isUnsent;
  }
}

const setAuthorization: BeforeRequestHook = ({ request, options }) => {
  const { token } = options.context as Pick<HttpRequest, "token">; // as it is passed below
  request.headers.set("authorization", `Bearer ${token}`);
};

/** Each request is sent once, without a time limit of ky's, for any status, and to no other address. */
const OPTIONS: KyOptions = {
  hooks: { beforeRequest: [setAuthorization] },
  retry: 0,
  timeout: false,
  throwHttpErrors: false,
};

/**
 * Sends requests through a ky instance of the client's own: it neither retries, nor times out, nor throws for a status,
 * and follows no redirect, since the token would travel with it. Only this file knows ky.
 *
 * @param userAgent the name of the client outside browsers, which `headers` may replace
 * @param fetchOptions handed to `fetch` as they are; what lets a cache keep a response only with reads
 */
export function createHttp(userAgent: string, fetchOptions: FetchOptions = {}): SendHttp {
  const instance = ky.create(OPTIONS);
  // A page or a worker: all browsers call themselves Mozilla, no other platform does.
  const isBrowser = /^Mozilla/.test(currentNavigator().userAgent ?? "");
  // A response belongs to one token and one moment; a browser's cache knows neither.
  const ownOptions = isBrowser ? { cache: "no-store" as const } : {};
  const cachedOptions = { ...ownOptions, ...fetchOptions };
  const uncachedOptions = { ...ownOptions, ...withoutCaches(fetchOptions) };
  // A page that sets its own would need the permission of the service (CORS).
  const ownHeaders = isBrowser ? {} : { "user-agent": userAgent };
  return async ({ url, method, headers, body, token, signal, leave, fetch, mayBeCached }) => {
    let stage: Fault["stage"] = "making";
    // The other headers, the body and the signal go to `fetch` alone: ky would copy them, and make a stream of the body.
    const post = async (request: unknown): Promise<Response> => {
      const { headers: made } = request as Request; // ky has made one of the URL
      const own: ((url: string, init: FetchInit) => Promise<unknown>) | undefined = fetch;
      if (own === undefined) throw new HttpFailure(new TypeError("there is no global fetch"), stage);
      const isRead = !isWrite(method);
      // `leave` may keep the request back, so nothing that must be closed is open yet.
      leave();
      const once = isRead ? undefined : onceOptions(method, fetchOptions);
      const watch = isRead ? undefined : watchWrite(method, url);
      const init = {
        ...(mayBeCached ? cachedOptions : uncachedOptions),
        ...once?.options,
        // Cookies must not go along in a browser; server platforms have none, and some of them refuse the option.
        ...("credentials" in Request.prototype ? { credentials: "omit" as const } : {}),
        method,
        headers: {
          ...ownHeaders,
          // Caches on the way may look at it. A browser says it by itself.
          ...(isRead && !mayBeCached && !isBrowser && { "cache-control": "no-cache" }),
          // A compressed body that is cut cannot be read to its end, and may hold a one-time secret.
          ...(!isRead && !isBrowser && { "accept-encoding": "identity" }),
          ...headers,
          authorization: made.get("authorization") ?? "",
        },
        ...(body === undefined ? {} : { body }),
        redirect: "manual" as const,
        signal,
      };
      stage = "sending";
      try {
        return parseResponse(await (watch === undefined ? own(url, init) : watch.send(() => own(url, init))));
      } catch (error) {
        // ky passes it on as it is. Of an error it would make one that holds the request, and with it the token.
        throw new HttpFailure(error, stage, await watch?.isUnsent(error));
      } finally {
        watch?.end();
        once?.close();
      }
    };
    try {
      return await instance(url, { method, context: { token }, fetch: post });
    } catch (error) {
      throw error instanceof HttpFailure ? error : new HttpFailure(error, stage);
    }
  };
}

/** `true` where the platform may send a `DELETE` again by itself: in browsers, on workerd, and through a `client` on Deno. */
export function platformMayRepeat({ client }: FetchOptions = {}): boolean {
  const repeaters = client === undefined ? /^(?:Mozilla|Cloudflare)/ : /^(?:Mozilla|Cloudflare|Deno)/;
  return repeaters.test(currentNavigator().userAgent ?? "");
}

function currentNavigator(): { readonly onLine?: boolean; readonly userAgent?: string } {
  return (globalThis as { readonly navigator?: object }).navigator ?? {};
}

// A `fetch` of the application may resolve with anything, and a substitute need not be of the platform's class.
function parseResponse(value: unknown): Response {
  const { status, headers, type } = (value ?? {}) as Partial<Response>; // each is looked at before it is used
  if (type === "error") throw new TypeError("network error: fetch resolved with Response.error()");
  if (typeof status !== "number" || !hasMethods(headers, "get", "has"))
    throw new TypeError(`fetch resolved with ${describeValue(value)}, not with a response`);
  // Another status than a final one says nothing about what the service did; it is 0 where a browser hides a redirect.
  if (!(status >= 200 || type === "opaqueredirect")) throw new TypeError(`fetch resolved with status ${status}`);
  return value as Response; // or the part of one that is used, and its body is read with care
}

// A platform may send a request again on a new connection, when a kept one broke. It then reports its last try alone. Node
// is not asked: its channels tell of each request.

interface DenoClient {
  close(): void;
}

interface Globals {
  readonly Deno?: { createHttpClient(options: { readonly poolMaxIdlePerHost: number }): DenoClient };
  readonly Bun?: unknown;
}

/** The way on which the platform's own `fetch` sends a write at most once. */
interface OnceOptions {
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
function onceOptions(method: string, { client }: FetchOptions): OnceOptions | undefined {
  const { Deno, Bun } = globalThis as Globals;
  if (hasMethods(Deno, "createHttpClient") && client === undefined) {
    const own = Deno?.createHttpClient({ poolMaxIdlePerHost: 0 });
    return own && { options: { client: own }, close: () => own.close() };
  }
  if (Bun === undefined) return undefined;
  return { options: method === "POST" || method === "PATCH" ? {} : { keepalive: false }, close: () => {} };
}
