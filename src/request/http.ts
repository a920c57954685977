import ky, { isNetworkError } from "ky";
import type { Call } from "./call.ts";

/** What the platform rejected with, and whether ky knows it for a failure of the network. */
export class TransportFailure {
  readonly cause: unknown;
  readonly isNetwork: boolean;

  constructor(cause: unknown, isNetwork: boolean) {
    this.cause = cause;
    this.isNetwork = isNetwork;
  }
}

/**
 * Sends the call's request, once: ky neither retries, nor times out, nor throws for a status here, and no redirect is
 * followed, since the token would travel with it. Rejects with `TransportFailure`.
 */
export async function dispatch(call: Call, token: string, signal: AbortSignal): Promise<Response> {
  const { operation, pipeline } = call;
  const { method, body } = operation;
  try {
    const response = await ky(call.url, {
      ...(method === "GET" ? undefined : { method }),
      ...(body === undefined ? undefined : { body }),
      ...(supportsCredentials() ? { credentials: "omit" } : undefined),
      redirect: "manual",
      retry: 0,
      timeout: false,
      throwHttpErrors: false,
      fetch: (request, init) => {
        // Headers and signal go in here: given to ky, each of them would be copied several times over.
        setHeaders((request as Request).headers, call, token); // ky has made one of the URL
        return (pipeline.fetch ?? globalThis.fetch)(request, { ...init, signal });
      },
    });
    if (!isResponse(response)) throw new TypeError("fetch gave something that is no Response");
    if (response.type === "error") throw new TransportFailure(new TypeError("fetch gave a network error"), true);
    return response;
  } catch (error) {
    if (error instanceof TransportFailure) throw error;
    // ky's own error holds the request, and with it the token.
    throw isNetworkError(error) ? new TransportFailure(error.cause, true) : new TransportFailure(error, false);
  }
}

function setHeaders(target: Headers, { operation, headers, report }: Call, token: string): void {
  report?.addHeaders(target);
  if (operation.body !== undefined) target.set("content-type", "application/json");
  for (const [name, value] of Object.entries(headers)) target.set(name, value);
  target.set("authorization", `Bearer ${token}`);
}

// A fetch of the caller's own may give anything, and a stand-in need not be of the platform's class.
function isResponse({
  headers,
  status,
}: {
  readonly headers?: Partial<Headers> | null;
  readonly status?: unknown;
}): boolean {
  return typeof headers?.get === "function" && typeof status === "number";
}

// Cookies must not go along in a browser; server platforms have none, and some of them refuse the option.
function supportsCredentials(): boolean {
  return "credentials" in Request.prototype;
}
