/** A service that is one function, for tests in which time stands still between its answers. */
import { Client, type ClientOptions } from "../../src/index.ts";
import { goodBody } from "./raw-behaviours.ts";

/** One request, as it was given to `fetch`. */
export interface Sent {
  readonly index: number;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: string;
  readonly body: string;
  /** On the monotonic clock. */
  readonly at: number;
  readonly signal: AbortSignal;
}

/** What becomes of a request: an answer, or whatever is thrown. */
export type Reply = (sent: Sent) => Response | Promise<Response>;

export interface FakeService {
  readonly sent: readonly Sent[];
  /** Requests that have been neither answered nor ended. */
  readonly open: number;
  readonly fetch: typeof globalThis.fetch;
  readonly client: (options?: ClientOptions) => Client;
}

export const TOKEN = "emu_K1_firstsecret";

/** Replies in the order of requests, of which the last one repeats; or one that decides by request. */
export function fakeService(...replies: readonly Reply[]): FakeService {
  const sent: Sent[] = [];
  let open = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, { ...init, signal: null });
    const signal = init?.signal ?? new AbortController().signal;
    const { authorization = "", ...headers } = Object.fromEntries(request.headers);
    const { length: index } = sent;
    const at = performance.now();
    const { method, url } = request;
    const entry = { index, method, url, headers, token: authorization.replace("Bearer ", ""), at, signal, body: "" };
    sent.push(entry);
    open += 1;
    try {
      signal.throwIfAborted();
      entry.body = await request.text();
      const reply = replies[index] ?? replies.at(-1) ?? good;
      return await unlessAborted(signal, Promise.resolve(reply(entry)));
    } finally {
      open -= 1;
    }
  };
  const client = (options: ClientOptions = {}): Client =>
    new Client({ baseUrl: "https://service.invalid/api/v1", token: TOKEN, fetch, ...options });
  return {
    sent,
    get open() {
      return open;
    },
    fetch,
    client,
  };
}

/** What the service answers when all is well. */
export const good: Reply = ({ method, url }) =>
  status(method === "DELETE" ? 204 : 200, {}, goodBody({ method, target: url }));

export function status(code: number, headers: Record<string, string> = {}, body = '{"error":"refused"}'): Response {
  return new Response([101, 204, 205, 304].includes(code) ? null : body, { status: code, headers });
}

export const answers =
  (code: number, headers: Record<string, string> = {}, body?: string): Reply =>
  () =>
    status(code, headers, body);

/** A 429 that asks to wait so many seconds. */
export const tooMany = (seconds: number | string, headers: Record<string, string> = {}): Reply =>
  answers(429, { "retry-after": String(seconds), ...headers }, '{"error":"too_many_requests"}');

/** The platform's error for a broken connection. */
export function fetchFailed(code: string, more: object = {}): TypeError {
  return new TypeError("fetch failed", { cause: Object.assign(new Error(`it was ${code}`), { code, ...more }) });
}

/** The connection breaks. A function makes the error anew each time. */
export const throws =
  (error: () => unknown): Reply =>
  () => {
    throw error();
  };

function socketError(): Error {
  return Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" });
}

/** Never answers; ends when it is aborted, as fetch does. */
export const never: Reply = () => new Promise<Response>(() => undefined);

/** Answers later. */
export const after =
  (ms: number, reply: Reply): Reply =>
  async (sent) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return reply(sent);
  };

/** A 2xx head; then the body sends `first` and `what` happens. */
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

function unlessAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener("abort", abort);
    const leave = (): void => signal.removeEventListener("abort", abort);
    work.then(resolve, reject).finally(leave);
  });
}
