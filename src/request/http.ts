import ky, { type BeforeRequestHook, isNetworkError } from "ky";
import type { FetchFunction, HttpRequest, SendHttp } from "./http-request.ts";

/** What sending rejects with. */
export class HttpFailure {
  /** What `fetch` rejected with. */
  readonly cause: unknown;
  /** ky recognises it as a failure of the network. */
  readonly isNetwork: boolean;
  /** `fetch` was called, so the request may have reached the service. */
  readonly isSent: boolean;

  constructor(cause: unknown, isNetwork: boolean, isSent: boolean) {
    this.cause = cause;
    this.isNetwork = isNetwork;
    this.isSent = isSent;
  }
}

/** Sets the headers of an attempt, the bearer token last. Given to ky as an option, they would be merged several times. */
const setHeaders: BeforeRequestHook = ({ request, options }) => {
  const { headers, token } = options.context as Pick<HttpRequest, "headers" | "token">; // as it is passed below
  for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
  request.headers.set("authorization", `Bearer ${token}`);
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
  fetchOptions: Readonly<Record<string, unknown>>,
): SendHttp {
  const instance = ky.create({
    hooks: { beforeRequest: [setHeaders] },
    retry: 0,
    timeout: false,
    throwHttpErrors: false,
    redirect: "manual",
  });
  return async ({ url, method, headers, body, token, signal }) => {
    let isSent = false;
    try {
      const response = await instance(url, {
        // For ky's default it costs a quarter of the call to say so.
        ...(method === "GET" ? {} : { method }),
        context: { headers, token },
        // The signal goes to `fetch` alone: ky would copy it. The body, too: ky would make a stream of it.
        fetch: (request) => {
          isSent = true;
          const init = {
            ...fetchOptions,
            ...(supportsCredentials() ? { credentials: "omit" as const } : {}),
            method,
            headers: Object.fromEntries((request as Request).headers), // ky has made one of the URL
            ...(body === undefined ? {} : { body }),
            redirect: "manual" as const,
            signal,
          };
          return (fetch ?? globalThis.fetch)(url, init) as Promise<Response>; // checked below, and read with care
        },
      });
      if (!isResponse(response)) throw new TypeError("fetch resolved with something that is not a Response");
      if (response.type === "error") throw new HttpFailure(new TypeError("fetch resolved with an error"), true, true);
      return response;
    } catch (error) {
      if (error instanceof HttpFailure) throw error;
      // ky's own error holds the request, and with it the token.
      const isNetwork = isNetworkError(error);
      throw new HttpFailure(isNetwork ? error.cause : error, isNetwork, isSent);
    }
  };
}

// A caller's `fetch` may resolve with anything, and a substitute need not be of the platform's class.
function isResponse(
  value: { readonly headers?: Partial<Headers> | null; readonly status?: unknown } | null | undefined,
): boolean {
  return (
    typeof value?.status === "number" &&
    typeof value.headers?.get === "function" &&
    typeof value.headers.has === "function"
  );
}

// Cookies must not go along in a browser; server platforms have none, and some of them refuse the option.
function supportsCredentials(): boolean {
  return "credentials" in Request.prototype;
}
