import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { TLSSocket } from "node:tls";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { classifyFault, type Fault } from "../../core/errors/connection-fault.ts";
import type { Failure, TlsFacts, WireRequest, WireResponse } from "../wire.ts";

/** The limit of one request, from the connection to the last byte. */
const TIMEOUT_MS = 30_000;
/** More than any page of 200 records. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * Sends a request by `node:http` or `node:https`, which show what `fetch` hides: the certificate, a 101, repeated headers.
 * Redirects are not followed, and each request has a connection of its own. A request was sent if its socket
 * was connected: with TLS, secured.
 */
export function sendByNode(
  request: WireRequest,
  signal?: AbortSignal,
  timeoutMs: number = TIMEOUT_MS,
): Promise<WireResponse | Failure> {
  return new Promise((resolve) => {
    let isSent = false;
    const failAt = (stage: Fault["stage"]) => (error: unknown) =>
      resolve({ ...failureOf(error, stage, request.url), isSent });
    const [fail, failToRead] = [failAt("sending"), failAt("reading")];
    try {
      const isTls = request.url.startsWith("https:");
      const send = isTls ? httpsRequest : httpRequest;
      const outgoing = send(request.url, {
        method: request.method,
        headers: headersOf(request),
        rejectUnauthorized: true, // whatever NODE_TLS_REJECT_UNAUTHORIZED says
        signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])]),
      });
      outgoing.on("socket", (socket) => {
        isSent = socket.readyState === "open"; // that of a tunnel is secured before
        socket.once(isTls ? "secureConnect" : "connect", () => {
          isSent = true;
        });
      });
      outgoing.on("error", fail);
      outgoing.on("response", (incoming) => void readResponse(incoming, incoming).then(resolve, failToRead));
      outgoing.on("upgrade", (incoming, socket) => {
        socket.destroy(); // what follows a 101 is not HTTP
        void readResponse(incoming, []).then(resolve, failToRead);
      });
      outgoing.end(request.body);
    } catch (error) {
      fail(error);
    }
  });
}

function headersOf({ headers, body }: WireRequest): Record<string, string> {
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  return { ...headers, ...length, connection: "close" };
}

async function readResponse(
  { socket, rawHeaders, statusCode: status = 0 }: IncomingMessage,
  sent: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<WireResponse> {
  const tls = tlsFactsOf(socket);
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of sent) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw Object.assign(new Error("the response is too large"), { code: "TOO_LARGE" });
    chunks.push(chunk);
  }
  const body = decoded(Buffer.concat(chunks), headers.get("content-encoding"));
  return { kind: "response", status, headers, text: new TextDecoder().decode(body), tls };
}

const DECODERS = new Map([
  ["gzip", gunzipSync],
  ["deflate", inflateSync],
  ["br", brotliDecompressSync],
]);

/** Decompresses a body, as `fetch` does. Some gateways compress a response although the request does not accept it. */
function decoded(bytes: Buffer, encoding: string | null): Uint8Array {
  const decode = DECODERS.get(encoding?.toLowerCase() ?? "");
  return decode === undefined || bytes.length === 0 ? bytes : decode(bytes, { maxOutputLength: MAX_BODY_BYTES });
}

function tlsFactsOf(socket: unknown): TlsFacts | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const { issuer, valid_to: validTo } = socket.getPeerCertificate();
  const name = issuer?.O ?? issuer?.CN;
  return {
    protocol: socket.getProtocol() ?? "TLS",
    issuer: [name].flat()[0] ?? "an unnamed authority",
    expiresAt: Date.parse(validTo),
  };
}

function failureOf(cause: unknown, stage: Fault["stage"], url: string): Omit<Failure, "isSent"> {
  const { name } = Object(cause) as { name?: unknown }; // anything may be thrown
  if (name === "AbortError" || name === "TimeoutError") {
    return { kind: "failure", code: "TIMEOUT", message: "no whole response came in time (TIMEOUT)" };
  }
  const { why, platformCode = why, permanent } = classifyFault({ cause, stage }, url);
  return { kind: "failure", code: platformCode, message: why, permanent };
}
