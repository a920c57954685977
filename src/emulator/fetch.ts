import { platformTurn } from "../core/time/clock.ts";
import { type Core, delay, type IncomingRequest, type OutgoingResponse } from "./exchange.ts";

interface FetchTarget {
  readonly core: Core;
  /** The only origin there is; requests to any other reject as unreachable. */
  readonly origin: string;
}

/** After so many responses, timers and input get a turn: a walk that never ends must not keep them from running. */
const TURN_EVERY = 100;

/**
 * The core as a `fetch`. It rejects where the platform's would: with the signal's reason, with a `TypeError` for a broken
 * connection, for another origin, and for a redirect that is not asked for with `redirect: "manual"`.
 */
export function createFetch({ core, origin }: FetchTarget): typeof globalThis.fetch {
  let answered = 0;
  return async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const signal = signalOf(input, init);
    signal?.throwIfAborted();
    const request = new Request(input, { ...init, signal: null });
    const url = new URL(request.url);
    if (url.origin !== origin) throw fetchFailed(`the emulator has no host ${url.host}`, "ENOTFOUND", url);
    const body = new Uint8Array(await request.arrayBuffer());
    signal?.throwIfAborted();
    const incoming: IncomingRequest = {
      method: request.method,
      target: url.pathname + url.search,
      headers: request.headers,
      body,
    };
    const outgoing = core.handle(incoming);
    await wait(outgoing, { ms: outgoing.delivery.delayMs, signal });
    if (++answered % TURN_EVERY === 0) await platformTurn();
    if (outgoing.delivery.dropped) {
      outgoing.settle("dropped");
      throw fetchFailed("read ECONNRESET", "ECONNRESET", url);
    }
    return toResponse(outgoing, { request, signal, url });
  };
}

function signalOf(input: RequestInfo | URL, init: RequestInit | undefined): AbortSignal | undefined {
  if (init?.signal !== undefined) return init.signal ?? undefined;
  // Not `instanceof`: a request may be of another realm.
  return typeof input === "object" && "signal" in input ? input.signal : undefined;
}

async function wait(
  outgoing: OutgoingResponse,
  { ms, signal }: { ms: number; signal: AbortSignal | undefined },
): Promise<void> {
  try {
    await delay(ms, signal);
  } catch (reason) {
    outgoing.settle("aborted");
    throw reason;
  }
}

interface Asked {
  readonly request: Request;
  readonly url: URL;
  readonly signal: AbortSignal | undefined;
}

function toResponse(outgoing: OutgoingResponse, asked: Asked): Response {
  const { request, url } = asked;
  const { status, headers } = outgoing;
  if (status >= 300 && status < 400 && status !== 304 && request.redirect !== "manual") {
    outgoing.settle("completed");
    throw fetchFailed("the emulator follows no redirect", "ERR_REDIRECT", url);
  }
  const body =
    request.method === "HEAD" || outgoing.body === undefined ? null : streamOf(outgoing, outgoing.body, asked);
  if (body === null) outgoing.settle("completed");
  const response = new Response(body, { status, headers });
  Object.defineProperty(response, "url", { value: request.url, configurable: true }); // msw 2 defines it again
  return response;
}

function streamOf(outgoing: OutgoingResponse, body: Uint8Array, { signal, url }: Asked): ReadableStream<Uint8Array> {
  const { cutAfterBytes, stallAfterBytes } = outgoing.delivery;
  const partial = cutAfterBytes ?? stallAfterBytes;
  const bytes = body.subarray(0, partial);
  let sent = bytes.length === 0;
  if (partial === undefined) outgoing.settle("completed");
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    signal?.throwIfAborted();
    if (!sent) controller.enqueue(bytes);
    else if (cutAfterBytes !== undefined) {
      outgoing.settle("cut");
      throw new TypeError("terminated", { cause: connectionError("other side closed", "UND_ERR_SOCKET", url) });
    } else if (stallAfterBytes !== undefined) await wait(outgoing, { ms: Infinity, signal });
    sent = true;
    if (partial === undefined) controller.close();
  };
  const cancel = (): void => outgoing.settle("aborted");
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

/** As Node's `fetch` rejects when the connection fails. */
function fetchFailed(reason: string, code: string, url: URL): TypeError {
  return new TypeError("fetch failed", { cause: connectionError(reason, code, url) });
}

const SYSCALLS: Readonly<Record<string, string>> = { ENOTFOUND: "getaddrinfo", ECONNRESET: "read" };

/** The error of a connection. It names the host and port, so it is not taken for a fault of a wrapper. */
function connectionError(message: string, code: string, { protocol, hostname, port }: URL): Error {
  const at = Number(port || (protocol === "https:" ? 443 : 80));
  return Object.assign(new Error(message), {
    code,
    syscall: SYSCALLS[code],
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: at,
  });
}
