import type { Method } from "./operation.ts";

/** The `fetch` that an application passes: called with a string and an init that holds everything. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

/** One request, ready to be sent. */
export interface HttpRequest {
  readonly url: string;
  readonly method: Method;
  /** All headers but `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly token: string;
  readonly signal: AbortSignal;
}

/** Sends one request, once. Resolves when the head of the response is there, and rejects with `HttpFailure`. */
export type SendHttp = (request: HttpRequest) => Promise<Response>;
