import ky, { isNetworkError } from "ky";

/** A request as it is put on the wire. */
export interface WireRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
  readonly fetch: typeof fetch | undefined;
}

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
 * Sends one request, once: ky neither retries, nor times out, nor throws for a status here, and no redirect is followed,
 * since the token would travel with it. Rejects with `TransportFailure`.
 */
export async function dispatch({ url, method, headers, body, signal, fetch: given }: WireRequest): Promise<Response> {
  try {
    const response = await ky(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      ...(supportsCredentials() ? { credentials: "omit" } : {}),
      redirect: "manual",
      retry: 0,
      timeout: false,
      throwHttpErrors: false,
      // The signal goes in here: given to ky, it would be merged with one of ky's own at twice the cost.
      fetch: (input, init) => (given ?? globalThis.fetch)(input, { ...init, signal }),
    });
    // A fetch of the caller's own may give anything.
    if (!("headers" in response)) throw new TypeError("fetch gave something that is no Response");
    if (response.type === "error") throw new TransportFailure(new TypeError("fetch gave a network error"), true);
    return response;
  } catch (error) {
    if (error instanceof TransportFailure) throw error;
    // ky's own error holds the request, and with it the token.
    throw isNetworkError(error) ? new TransportFailure(error.cause, true) : new TransportFailure(error, false);
  }
}

// Cookies must not go along in a browser; server platforms have none, and some of them refuse the option.
function supportsCredentials(): boolean {
  return "credentials" in Request.prototype;
}
