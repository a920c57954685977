/** What a scripted `fetch` does with a request: responses, and the ways in which there is none. */
import { Agent, fetch as undiciFetch } from "undici";
import type { FetchFunction } from "../../src/client/index.ts";
import { fetchFailed, SERVICE_HOST } from "./fetch-errors.ts";
import { goodBody } from "./raw-behaviours.ts";
import type { SentRequest } from "./scripted-fetch.ts";

/** Returns a response to a request, or throws what `fetch` throws. */
export type Reply = (request: SentRequest) => Response | Promise<Response>;

/** A successful response of the API documentation to any request. */
export const good: Reply = ({ method, url }) =>
  status(method === "DELETE" ? 204 : 200, {}, goodBody({ method, target: url }));

/** A response; it has no body where its status allows none. */
export function status(code: number, headers: Record<string, string> = {}, body = '{"error":"refused"}'): Response {
  return text([101, 204, 205, 304].includes(code) ? null : body, code, headers);
}

/** A response with a JSON body. */
export function json(body: unknown, code = 200, headers: Record<string, string> = {}): Response {
  return text(JSON.stringify(body), code, { "content-type": "application/json", ...headers });
}

export function text(body: string | null, code = 200, headers: Record<string, string> = {}): Response {
  return new Response(body, { status: code, headers });
}

/** A page of a list. */
export function page(ids: readonly string[], next: unknown): Response {
  return json({ data: ids.map((id) => ({ id, name: `name of ${id}` })), next_cursor: next });
}

/** Serves a list that is made of pages of ids; the cursor of page n is `c<n>`. */
export function pagesOf(...pages: readonly (readonly string[])[]): Reply {
  return ({ query }) => {
    const at = Number((query.get("cursor") ?? "c0").slice(1));
    return page(pages[at] ?? [], at + 1 < pages.length ? `c${at + 1}` : null);
  };
}

/** Always the same response, made anew for each request. */
export const responds =
  (code: number, headers: Record<string, string> = {}, body?: string): Reply =>
  () =>
    status(code, headers, body);

/** A 429 with a `Retry-After`. */
export const tooMany = (seconds: number | string, headers: Record<string, string> = {}): Reply =>
  responds(429, { "retry-after": String(seconds), ...headers }, '{"error":"too_many_requests"}');

/** The request fails; `error` makes the error anew for each request. */
export const throws =
  (error: () => unknown): Reply =>
  () => {
    throw error();
  };

/** The connection fails with a code of the platform. */
export const failsWith = (code: string): Reply => throws(() => fetchFailed(code));
/** The connection breaks after the request may have been sent. */
export const connectionLost: Reply = failsWith("ECONNRESET");

/**
 * A request of undici whose connection is never made, with a code of the platform. Its channels tell so: no other write that
 * was handed to `fetch` is known as not sent.
 */
function notConnecting(code: string): FetchFunction {
  const error = (): Error => Object.assign(new Error(`it was ${code}`), { code, hostname: SERVICE_HOST });
  const dispatcher = new Agent({ connect: (_, connected) => connected(error(), null) });
  return (url, { method }) => undiciFetch(url, { method, dispatcher });
}
/** No connection is made, so nothing is sent. */
export const neverConnects =
  (code: string): Reply =>
  async ({ url, method, signal }) =>
    text(await (await notConnecting(code)(url, { method, headers: {}, signal, redirect: "manual" })).text());
export const notConnected: Reply = neverConnects("ECONNREFUSED");

/** Never responds; ends when it is aborted, as `fetch` does. */
export const never: Reply = () => new Promise<Response>(() => undefined);

/** Replies after a delay. */
export const after =
  (ms: number, reply: Reply): Reply =>
  async (request) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return reply(request);
  };

/** The head of a successful response, the `first` bytes of its body, and then a failure. */
export const bodyThat =
  (what: "breaks" | "stalls", first = '{"id":', code = 200): Reply =>
  ({ signal }) => {
    let isFirst = true;
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          if (isFirst) controller.enqueue(new TextEncoder().encode(first));
          else if (what === "breaks") controller.error(new TypeError("terminated", { cause: socketError() }));
          else signal.addEventListener("abort", () => controller.error(signal.reason));
          const isDone = !isFirst && what === "stalls";
          isFirst = false;
          return isDone ? new Promise<void>(() => undefined) : undefined;
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { status: code });
  };

function socketError(): Error {
  return Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" });
}
