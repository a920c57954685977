/** What a raw server can do with a request, as small values that combine. */
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Behaviour, RawRequest } from "./raw-server.ts";

const TOKEN = {
  id: "tok_1",
  name: "ci",
  key_id: "K1",
  scopes: ["issues:write"],
  expires_at: "2027-01-01T00:00:00Z",
  plaintext: "emu_K1_replacement",
};

/** The body of a successful response to a request; `""` where there is none. */
export function goodBody({ method, target }: Pick<RawRequest, "method" | "target">): string {
  if (method === "DELETE") return "";
  if (target.includes("/me/tokens")) return JSON.stringify(TOKEN);
  if (method === "POST") return JSON.stringify({ number: 1, title: "Title", status: "open" });
  return JSON.stringify({ id: "ses_1", state: "running" });
}

export const send =
  (bytes: string | Uint8Array): Behaviour =>
  ({ socket }) =>
    void socket.write(bytes);

/** RST: bytes that were not delivered are lost. */
export const reset: Behaviour = ({ socket }) => void socket.resetAndDestroy();
/** FIN, after the bytes that were sent. */
export const finish: Behaviour = ({ socket }) => void socket.end();
export const silence: Behaviour = () => undefined;
export const pause =
  (ms: number): Behaviour =>
  () =>
    sleep(ms);

export function sequence(...behaviours: readonly Behaviour[]): Behaviour {
  return async (exchange) => {
    for (const behaviour of behaviours) await behaviour(exchange);
  };
}

export interface RawResponse {
  readonly status?: number;
  /** Repeated names are sent repeatedly. */
  readonly headers?: readonly (readonly [string, string])[];
  /** Default: a successful one. */
  readonly body?: string | Uint8Array;
}

/** A complete response, after which the connection stays open. A HEAD request gets its head alone. */
export function respond({ status = 200, headers = [], body }: RawResponse = {}): Behaviour {
  return ({ request, socket, done }) => {
    const bytes = Buffer.from(body ?? goodBody(request));
    const length: readonly [string, string][] =
      status === 204 || status === 304 ? [] : [["Content-Length", String(bytes.length)]];
    socket.write(head(status, [...headers, ...length]));
    if (request.method !== "HEAD") socket.write(bytes);
    done();
  };
}

/** A successful response of the API documentation. */
export const good: Behaviour = (exchange) =>
  respond({ status: exchange.request.method === "DELETE" ? 204 : 200 })(exchange);

/** A complete response with a JSON body. */
export function respondJson(body: unknown): Behaviour {
  return respond({ headers: [["Content-Type", "application/json"]], body: JSON.stringify(body) });
}

/** The head of a 200; its length is that of the successful body plus `lengthened`. */
export function goodHead(lengthened = 0, ...headers: readonly (readonly [string, string])[]): Behaviour {
  return ({ request, socket }) => {
    const length = Buffer.byteLength(goodBody(request)) + lengthened;
    socket.write(head(200, [["Content-Type", "application/json"], ["Content-Length", String(length)], ...headers]));
  };
}

/** The first half of the successful body. */
export const halfBody: Behaviour = ({ request, socket }) => {
  const body = goodBody(request);
  socket.write(body.slice(0, Math.ceil(body.length / 2)));
};

/** A chunked response that never ends. */
export function endless(status: number, ...headers: readonly (readonly [string, string])[]): Behaviour {
  const filler = `400\r\n${"x".repeat(1024)}\r\n`;
  return async ({ socket }) => {
    socket.write(head(status, [["Transfer-Encoding", "chunked"], ...headers]));
    while (!socket.destroyed) {
      socket.write(filler);
      await sleep(5);
    }
  };
}

/** The successful body, compressed and changed by `spoil`; its length is that of the result. */
export function gzipped(spoil: (bytes: Buffer) => Uint8Array): Behaviour {
  return (exchange) => {
    const bytes = spoil(gzipSync(goodBody(exchange.request) || "{}"));
    return respond({ headers: [["Content-Encoding", "gzip"]], body: bytes })(exchange);
  };
}

export function head(status: number, headers: readonly (readonly [string, string])[]): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Whatever\r\n${lines.join("")}\r\n`;
}
