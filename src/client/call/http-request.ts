import { invalid } from "../checks/invalid-input.ts";
import { nameOf } from "../checks/values.ts";

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
  /** Set in browsers, unless `fetchOptions` has another one: their cache does not know whose response it keeps. */
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

/** One request, ready to be sent. */
export interface HttpRequest {
  readonly url: string;
  readonly method: string;
  /** All headers but `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly token: string;
  readonly signal: AbortSignal;
}

/** Sends one request, once. Resolves when the head of the response is there, and rejects with `HttpFailure`. */
export type SendHttp = (request: HttpRequest) => Promise<Response>;

/** Whatever `new Headers()` takes. (`HeadersInit` is not everywhere a global type.) */
export type HeadersInput = ConstructorParameters<typeof Headers>[0];

/** Headers that no caller sets. With some of them, the platform would send less or more than the body, or wait. */
const RESERVED = /^(?:authorization|cookie|host|content-length|transfer-encoding|connection|expect)$/i;

/** Extra headers as a plain record with lower-case names, without those that are `undefined`. */
export function readHeaders(headers: NonNullable<HeadersInput>): Readonly<Record<string, string>> {
  const read = new Headers();
  const entries: Iterable<unknown> = Symbol.iterator in headers ? headers : Object.entries<unknown>(headers);
  for (const entry of entries) {
    if (!Array.isArray(entry) || entry.length !== 2)
      invalid("headers must be a record, or pairs of a name and a value");
    const [name, value] = entry as [unknown, unknown]; // pairs of anything
    if (value === undefined) continue;
    const written = String(name);
    if (RESERVED.test(written)) {
      invalid(`headers must not set ${written}: the client sets it from token, baseUrl and the body, or sends none`);
    }
    try {
      if (typeof value === "object") throw new TypeError(); // the platform would send words for it
      read.append(name as string, value as string); // which refuses what is none
    } catch {
      // The platform's own message quotes the value.
      invalid(`headers has a name or value that is not allowed in an HTTP header: ${nameOf(written) ?? "a long one"}`);
    }
  }
  return Object.fromEntries(read);
}
