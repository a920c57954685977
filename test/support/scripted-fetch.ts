/** A `fetch` that a test scripts: it records each request and asks a function of the test for the response. */
import { http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll } from "vitest";
import { Client, type ClientOptions } from "../../src/client/index.ts";
import { fakeNow } from "./fake-time.ts";
import { SERVICE_HOST } from "./fetch-errors.ts";
import { good, json, type Reply } from "./replies.ts";

export const BASE = `https://${SERVICE_HOST}/api/v1`;
/** Of the form of the API documentation, so that its last segment is a secret of its own. */
export const TOKEN = "pat_publickey_s3cr3tTailOfTheToken";

/** One request as it was sent. */
export interface SentRequest {
  readonly index: number;
  readonly method: string;
  readonly url: string;
  /** Below the base URL, as it was sent, with its query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly token: string;
  readonly body: string;
  /** On the fake clock. */
  readonly at: number;
  readonly signal: AbortSignal;
}

export interface ScriptedFetch {
  readonly sent: readonly SentRequest[];
  /** Requests that have neither a response nor a failure yet. */
  readonly open: number;
  readonly fetch: typeof globalThis.fetch;
  /** A client that sends through it. */
  readonly client: (options?: ClientOptions) => Client;
}

/**
 * One reply is that to every request. Several are those to one request each, in order; any more are unexpected, and fail
 * the running test. Without any, each request gets the response that is due.
 */
export function scriptedFetch(...replies: readonly Reply[]): ScriptedFetch {
  const [every = good, ...others] = replies;
  return recordingFetch(others.length === 0 ? every : script(replies));
}

/** Replies to one request each, in order, and the last one to all after it. */
export function repeatingLast(...replies: readonly Reply[]): Reply {
  return (request) => (replies[request.index] ?? replies.at(-1) ?? unexpected)(request);
}

/** Replies to one request each, in order. Any more are unexpected, and fail the running test. */
function script(replies: readonly (Response | Reply)[]): Reply {
  return (request) => {
    const next = replies[request.index] ?? unexpected;
    return typeof next === "function" ? next(request) : next;
  };
}

const unexpected: Reply = ({ method, url, index }) => {
  console.error(`unexpected request: ${method} ${url}, number ${index + 1}`); // which fails the test
  return json({ error: "unexpected" }, 418);
};

/** The scripted `fetch` of a whole file. */
export interface Wire {
  /** The requests of the running test, in order. */
  readonly sent: readonly SentRequest[];
  /** Replies to every request of the running test. */
  reply(reply: Reply): void;
  /** Replies to one request each, in order; any more are unexpected, and fail the test. */
  script(...replies: readonly (Response | Reply)[]): void;
  /** A client that sends through it. */
  client(options?: ClientOptions): Client;
}

/**
 * Call it once in a file. `"msw"`: the client has no `fetch` option, and msw intercepts the platform's `fetch` at
 * {@link BASE}; for tests that depend on the platform's `fetch`, and for what msw users see.
 */
export function openWire(transport: "fetch option" | "msw" = "fetch option"): Wire {
  let reply = unexpected;
  const { sent, fetch, client } = recordingFetch((request) => reply(request));
  if (transport === "msw") interceptWith(fetch);
  afterEach(() => {
    reply = unexpected;
    sent.length = 0;
  });
  return {
    sent,
    reply(given) {
      reply = given;
    },
    script(...replies) {
      reply = script(replies);
    },
    client: transport === "msw" ? (options) => new Client({ baseUrl: BASE, token: TOKEN, ...options }) : client,
  };
}

/** {@link ScriptedFetch}, whose log can be emptied. */
interface RecordingFetch extends ScriptedFetch {
  readonly sent: SentRequest[];
}

function recordingFetch(reply: Reply): RecordingFetch {
  const sent: SentRequest[] = [];
  let open = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, { ...init, signal: null });
    const signal = init?.signal ?? new AbortController().signal;
    const entry = { ...describeRequest(request), index: sent.length, at: fakeNow(), signal, body: "" };
    sent.push(entry);
    open += 1;
    try {
      signal.throwIfAborted();
      entry.body = await request.text();
      return await unlessAborted(signal, Promise.resolve(reply(entry)));
    } finally {
      open -= 1;
    }
  };
  return {
    sent,
    get open() {
      return open;
    },
    fetch,
    client: (options) => new Client({ baseUrl: BASE, token: TOKEN, fetch, ...options }),
  };
}

function describeRequest({
  method,
  url,
  headers,
}: Request): Pick<SentRequest, "method" | "url" | "path" | "query" | "headers" | "token"> {
  const path = url.startsWith(BASE) ? url.slice(BASE.length) : url;
  const token = (headers.get("authorization") ?? "").replace("Bearer ", "");
  return { method, url, path, query: new URL(url).searchParams, headers, token };
}

function interceptWith(fetch: typeof globalThis.fetch): void {
  const server = setupServer(http.all(/^https:\/\/[\w.]*example\.com\//, ({ request }) => fetch(request)));
  beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
  afterAll(() => server.close());
}

function unlessAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener("abort", abort);
    const leave = (): void => signal.removeEventListener("abort", abort);
    work.then(resolve, reject).finally(leave);
  });
}
