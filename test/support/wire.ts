import { http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll } from "vitest";
import { Client, type ClientOptions } from "../../src/index.ts";

export const BASE = "https://automation.example.com/api/v1";
/** Of the contract's form, so that its last segment is a secret of its own. */
export const TOKEN = "pat_publickey_s3cr3tTailOfTheToken";

/** One request as the service saw it. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  /** Below the base URL, as it was sent, with its query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: string;
}

export type Answer = (seen: Seen, index: number) => Response | Promise<Response>;

/** The service as msw plays it. What a test has not told it to answer fails that test. */
export interface Wire {
  /** The requests of the running test, in order. */
  readonly seen: readonly Seen[];
  /** Answers every request. */
  answer(answer: Answer): void;
  /** Answers one request each, in order; any more are unexpected. */
  script(...answers: readonly (Response | Answer)[]): void;
  /** A client of it. */
  client(options?: ClientOptions): Client;
}

/** Call it once in a file. */
export function openWire(): Wire {
  const seen: Seen[] = [];
  const unexpected: string[] = [];
  let answer: Answer | undefined;
  const server = setupServer(
    http.all(/^https:\/\/[\w.]*example\.com\//, async ({ request }) => {
      const { method, url, headers } = request;
      const path = url.startsWith(BASE) ? url.slice(BASE.length) : url;
      const one = { method, url, path, query: new URL(url).searchParams, headers, body: await request.text() };
      seen.push(one);
      if (answer !== undefined) return answer(one, seen.length - 1);
      unexpected.push(`${method} ${url}`);
      return json({ error: "unexpected" }, 418);
    }),
  );
  beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
  afterEach(() => {
    answer = undefined;
    seen.length = 0;
    const told = unexpected.splice(0);
    if (told.length > 0) throw new Error(`requests that nobody expected: ${told.join(", ")}`);
  });
  afterAll(() => server.close());
  return {
    seen,
    answer(given) {
      answer = given;
    },
    script(...answers) {
      answer = (one, index) => {
        const next = answers[index];
        if (typeof next === "function") return next(one, index);
        if (next !== undefined) return next;
        unexpected.push(`${one.method} ${one.url}, the ${index + 1}th`);
        return json({ error: "unexpected" }, 418);
      };
    },
    client: (options) => new Client({ baseUrl: BASE, token: TOKEN, ...options }),
  };
}

/** An answer with a JSON body. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return text(JSON.stringify(body), status, { "content-type": "application/json", ...headers });
}

export function text(body: string | null, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(body, { status, headers });
}

/** A page of a list. */
export function page(ids: readonly string[], next: unknown): Response {
  return json({ data: ids.map((id) => ({ id, name: `name of ${id}` })), next_cursor: next });
}

/** Serves a list that is made of pages of ids; the cursor of page n is `c<n>`. */
export function pagesOf(...pages: readonly (readonly string[])[]): Answer {
  return ({ query }) => {
    const at = Number((query.get("cursor") ?? "c0").slice(1));
    return page(pages[at] ?? [], at + 1 < pages.length ? `c${at + 1}` : null);
  };
}

/** Whatever a promise rejects with; fails if it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it was expected to reject, and resolved");
}

/** Everything of an async iterable, up to its end or `max` of it, and what it ended with. */
export async function drain<Item>(
  iterable: AsyncIterable<Item>,
  max = Number.POSITIVE_INFINITY,
): Promise<{ items: Item[]; error: unknown }> {
  const items: Item[] = [];
  try {
    for await (const item of iterable) {
      items.push(item);
      if (items.length >= max) break;
    }
    return { items, error: undefined };
  } catch (error) {
    return { items, error };
  }
}

/** A promise and what settles it. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
