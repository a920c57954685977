import ky, { type BeforeRequestHook, type Options as KyOptions } from "ky";
import { describeValue, hasMethods } from "../checks/values.ts";
import type { Fault, FaultSource } from "../errors/connection-fault.ts";
import type { FetchFunction, FetchInit, HttpRequest, SendHttp } from "./http-request.ts";

/** What sending rejects with. */
export class HttpFailure implements Fault {
  /** What `fetch` rejected with. */
  readonly cause: unknown;
  /** The `fetch` that the request was handed to; `request` if it was handed to none. */
  readonly source: FaultSource;

  constructor(cause: unknown, source: FaultSource) {
    this.cause = cause;
    this.source = source;
  }
}

/** The platform's own `fetch`. One that takes its place later is the application's, as one in the options is. */
const PLATFORM_FETCH: unknown = globalThis.fetch;

/** Sets the bearer token of a request. */
const setToken: BeforeRequestHook = ({ request, options }) => {
  const { token } = options.context as Pick<HttpRequest, "token">; // as it is passed below
  request.headers.set("authorization", `Bearer ${token}`);
};

/** Each request is sent once, without a time limit of ky's, whatever its status, and to no other address. */
const OPTIONS: KyOptions = {
  hooks: { beforeRequest: [setToken] },
  retry: 0,
  timeout: false,
  throwHttpErrors: false,
  redirect: "manual",
};

/**
 * Sends requests through a ky instance of the client's own: it neither retries, nor times out, nor throws for a status,
 * and follows no redirect, since the token would travel with it. Only this file knows ky.
 *
 * @param fetch the caller's; without one, the global `fetch` at the time of each request
 * @param fetchOptions handed to `fetch` as they are
 */
export function createHttp(
  fetch: FetchFunction | undefined,
  fetchOptions: Readonly<Record<string, unknown>> | undefined,
): SendHttp {
  const instance = ky.create(OPTIONS);
  return async ({ url, method, headers, body, token, signal }) => {
    const absent = inheritedNames();
    // Once `fetch` has been called, the request was sent, wherever it fails then: ky reads the response, too.
    let source: FaultSource = "request";
    // The other headers, the body and the signal go to `fetch` alone: ky would copy them, and make a stream of the body.
    const send = async (request: unknown): Promise<Response> => {
      const { headers: made } = request as Request; // ky has made one of the URL
      const init = {
        ...absent,
        ...fetchOptions,
        // Cookies must not go along in a browser; server platforms have none, and some of them refuse the option.
        ...("credentials" in Request.prototype ? { credentials: "omit" as const } : {}),
        method,
        headers: { ...headers, authorization: made.get("authorization") ?? "" },
        ...(body === undefined ? {} : { body }),
        redirect: "manual" as const,
        signal,
      };
      const own: ((url: string, init: FetchInit) => Promise<unknown>) | undefined = fetch ?? globalThis.fetch;
      if (own === undefined) throw new HttpFailure(new TypeError("there is no global fetch"), source);
      source = own === PLATFORM_FETCH ? "platform" : "application";
      try {
        return checked(await own(url, init));
      } catch (error) {
        // ky passes it on as it is. Of an error it would make one that holds the request, and with it the token.
        throw new HttpFailure(error, source);
      }
    };
    // For ky's default method it costs a quarter of the call to say so.
    const options = { ...absent, ...(method === "GET" ? {} : { method }), context: { token }, fetch: send };
    try {
      // ky asks a text, too, for the headers, the method and the signal of a request.
      const isSafe = Object.keys(absent).length === 0;
      return await instance(isSafe ? url : new Request(url, { ...absent, method, headers: {}, signal }), options);
    } catch (error) {
      throw error instanceof HttpFailure ? error : new HttpFailure(error, source);
    }
  };
}

/**
 * The enumerable names that a program has put on `Object.prototype`, each without a value: ky and `fetch` would take what
 * stands there for options.
 */
function inheritedNames(): Readonly<Record<string, undefined>> {
  const names = Object.keys(Object.prototype).filter((name) => !Object.hasOwn(OPTIONS, name));
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

// A `fetch` of the application may resolve with anything, and a substitute need not be of the platform's class.
function checked(value: unknown): Response {
  const { status, headers, type } = (value ?? {}) as Partial<Response>; // each is looked at before it is used
  if (type === "error") throw new TypeError("network error: fetch resolved with Response.error()");
  if (typeof status !== "number" || !hasMethods(headers, "get", "has"))
    throw new TypeError(`it resolved with ${describeValue(value)}, not with a response`);
  // Another status than a final one says nothing about what the service did; it is 0 where a browser hides a redirect.
  if (!(status >= 200 || type === "opaqueredirect")) throw new TypeError(`it resolved with status ${status}`);
  return value as Response; // or the part of one that is used, and its body is read with care
}
