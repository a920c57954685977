import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { concatenate } from "../concatenate.ts";
import type { Answer, Core, Incoming } from "../exchange.ts";
import { MAX_BODY_BYTES } from "../exchange.ts";
import { delay } from "../timing.ts";

const CORS: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "Retry-After, RateLimit-Limit, RateLimit-Remaining, x-request-id",
};

const PREFLIGHT: Readonly<Record<string, string>> = {
  ...CORS,
  "access-control-allow-methods": "GET, POST, DELETE, PUT, PATCH",
  "access-control-allow-headers": "authorization, content-type",
  "access-control-allow-private-network": "true",
  "access-control-max-age": "600",
};

/** How much of a body that is too large is still read: a client that is cut off while it sends sees no refusal. */
const DRAIN_BYTES = 16 * MAX_BODY_BYTES;

/** The core as a listener of `node:http`. */
export function createRequestListener(core: Core): RequestListener {
  return (request, response) => {
    // A client that goes away is no error of the server's.
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    if (isPreflight(request)) response.writeHead(204, PREFLIGHT).end();
    else exchange(core, request, response).catch(() => void request.socket.destroy());
  };
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

async function exchange(core: Core, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const body = await readBody(request);
  const { method = "", url: target = "" } = request;
  const answer = core.handle({ method, target, headers: headersOf(request), body });
  if (gone.signal.aborted) return answer.settle("aborted");
  gone.signal.addEventListener("abort", () => answer.settle("aborted"));
  await delay(answer.delivery.delayMs, gone.signal);
  if (answer.delivery.dropped) {
    answer.settle("dropped");
    request.socket.resetAndDestroy();
    return;
  }
  response.sendDate = false;
  response.writeHead(answer.status, { ...headerLines(answer), ...(body === "too large" && { connection: "close" }) });
  sendBody(answer, request, response);
}

/** The bytes of the body; of one that is too large the rest is read and forgotten, up to a bound. */
async function readBody(request: IncomingMessage): Promise<Incoming["body"]> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // A request without an encoding set yields buffers; not destroyed, so that it can still be answered.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks.length = 0;
    if (size > DRAIN_BYTES) break;
  }
  return size > MAX_BODY_BYTES ? "too large" : concatenate(chunks, size);
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
  }
  return headers;
}

function headerLines({ headers, omitted }: Answer): Record<string, string> {
  const lines = { ...CORS, ...Object.fromEntries(headers) };
  return Object.fromEntries(Object.entries(lines).filter(([name]) => !omitted.includes(name)));
}

function sendBody(answer: Answer, request: IncomingMessage, response: ServerResponse): void {
  const { cutAfterBytes, stallAfterBytes } = answer.delivery;
  const partial = cutAfterBytes ?? stallAfterBytes;
  if (partial === undefined) {
    response.once("finish", () => answer.settle("completed"));
    response.end(answer.body);
    return;
  }
  const bytes = answer.body?.subarray(0, partial) ?? new Uint8Array();
  if (bytes.length > 0) response.write(bytes);
  else response.flushHeaders();
  if (cutAfterBytes === undefined) return;
  answer.settle("cut");
  request.socket.destroySoon();
}
