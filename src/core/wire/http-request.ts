/**
 * The second argument of `fetch`: everything that there is to send, as plain values, `fetchOptions` included. It can be
 * spread and changed, and is a `RequestInit` of any platform or package.
 */
export interface FetchInit {
  /** The HTTP method. */
  method: string;
  /** All headers, `authorization` included, with lower-case names. */
  headers: Record<string, string>;
  /** The body as text; absent if there is none. */
  body?: string;
  /** Aborts when the attempt is over, by the caller's signal or a time limit. */
  signal: AbortSignal;
  /** Redirects are not followed: the token would travel with them. */
  redirect: "manual";
  /** Set where the platform has cookies: none are sent. */
  credentials?: "omit";
  /**
   * Set in browsers, unless `fetchOptions` has another one: their cache does not know whose response it keeps. Set everywhere
   * for writes and polls, if `fetchOptions` has `next` or `cache`.
   */
  cache?: "no-store";
}

/** The part of a `Response` that is needed. Without a web stream as `body`, as with node-fetch and mocks, `text()` reads it. */
export interface FetchResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The headers of the response. */
  readonly headers: Pick<Headers, "get" | "has">;
  /** Reads the body. */
  text(): Promise<string>;
}

/**
 * The `fetch` that an application passes: that of the platform or of another package (undici, node-fetch), or a function
 * around one that adds headers, logs the URL or measures. Called once for each request.
 */
export type FetchFunction = (url: string, init: FetchInit) => Promise<FetchResponse>;

export interface HttpRequest {
  readonly url: string;
  readonly method: string;
  /** All headers but `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly token: string;
  readonly signal: AbortSignal;
  /** Called before `fetch`, in the same turn. What it throws keeps the request back. */
  readonly leave: () => void;
  /** Sends it; `undefined` where the platform has no `fetch`. */
  readonly fetch: FetchFunction | undefined;
  /** A cache may answer it, if the options say so: it is a read that the application asks for. */
  readonly mayBeCached: boolean;
}

/** Sends one request, once. Resolves when the head of the response is there, and rejects with `HttpFailure`. */
export type SendHttp = (request: HttpRequest) => Promise<Response>;
