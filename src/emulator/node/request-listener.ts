import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { strings, type Validator } from "../../core/checks/validators.ts";
import { isLoopback } from "../../core/wire/service.ts";
import { type Core, delay, type IncomingRequest, MAX_BODY_BYTES, type OutgoingResponse } from "../exchange.ts";
import type { PageListener } from "./page-server.ts";

/** The most bytes that are still read of a body that is too large: a client that is cut off while it sends sees no refusal. */
const DRAIN_BYTES = 16 * MAX_BODY_BYTES;

export interface ListenerOptions {
  readonly core: Core;
  readonly acceptsHost: (host: string | undefined) => boolean;
  /** Takes the requests that are not for the core. */
  readonly page: PageListener | undefined;
  /** The milliseconds by which the next request is late. */
  readonly lateness?: (() => number) | undefined;
}

export function createRequestListener(options: ListenerOptions): RequestListener {
  return (request, response) => {
    // A client that goes away is no error of the server's.
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    if (options.page?.(request, response)) return;
    exchange(options, request, response).catch(() => void request.socket.destroy());
  };
}

async function exchange(options: ListenerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const body = await readBody(request);
  if (options.lateness !== undefined) await delay(options.lateness(), gone.signal);
  if (!options.acceptsHost(request.headers.host)) {
    response.writeHead(421, { "content-type": "application/json", "content-length": MISDIRECTED.length });
    response.end(MISDIRECTED);
    return;
  }
  const outgoing = options.core.handle(incomingOf(request, body));
  if (gone.signal.aborted) return outgoing.settle("aborted");
  gone.signal.addEventListener("abort", () => outgoing.settle("aborted"));
  await delay(outgoing.delivery.delayMs, gone.signal);
  if (outgoing.delivery.dropped) {
    outgoing.settle("dropped");
    request.socket.resetAndDestroy();
    return;
  }
  if (body === "too large") response.setHeader("connection", "close");
  response.sendDate = false;
  response.writeHead(outgoing.status, Object.fromEntries(outgoing.headers));
  sendBody(outgoing, request, response);
}

const MISDIRECTED = JSON.stringify({
  error: "misdirected_request",
  message: "the Host header names a host that is not allowed; see allowedHosts and --allow-host",
});

/** A host as the `Host` header names it, in any case. */
export const HOST_NAME: Validator<string> = strings(
  "a host name without scheme and port, such as emulator",
  (value) => URL.canParse(`http://${value}`) && new URL(`http://${value}`).hostname === value.toLowerCase(),
);

/**
 * Returns whether a `Host` header is loopback or one of `hosts`. Without this, a web page could reach the server through a
 * name of its own that resolves to this machine.
 */
export function hostTest(hosts: readonly string[]): ListenerOptions["acceptsHost"] {
  const known = hosts.map((name) => name.toLowerCase());
  return (host) => {
    // Browsers always send the header; HTTP/1.0 knows none.
    if (host === undefined) return true;
    const name = host.toLowerCase().replace(/:\d*$/, "");
    return isLoopback(name) || known.includes(name);
  };
}

/** The bytes of the body; of one that is too large the rest is read and forgotten, up to a bound. */
async function readBody(request: IncomingMessage): Promise<IncomingRequest["body"]> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // A request without an encoding set yields buffers; not destroyed, so that it can still be answered.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks.length = 0;
    if (size > DRAIN_BYTES) break;
  }
  return size > MAX_BODY_BYTES ? "too large" : new Uint8Array(Buffer.concat(chunks));
}

function incomingOf(request: IncomingMessage, body: IncomingRequest["body"]): IncomingRequest {
  const { method = "", url: target = "", rawHeaders } = request;
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
  }
  return { method, target, headers, body };
}

function sendBody(outgoing: OutgoingResponse, request: IncomingMessage, response: ServerResponse): void {
  const { cutAfterBytes, stallAfterBytes } = outgoing.delivery;
  const partial = cutAfterBytes ?? stallAfterBytes;
  if (partial === undefined) {
    response.once("finish", () => outgoing.settle("completed"));
    response.end(outgoing.body);
    return;
  }
  const bytes = outgoing.body?.subarray(0, partial) ?? new Uint8Array();
  if (bytes.length > 0) response.write(bytes);
  else response.flushHeaders();
  if (cutAfterBytes === undefined) return;
  outgoing.settle("cut");
  request.socket.destroySoon();
}
