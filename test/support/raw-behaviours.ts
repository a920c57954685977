/** What a raw server can do to a request, as small values that combine. */
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

/** A good answer's body to whatever was asked; `""` where none is due. */
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

/** RST: what has not been delivered is lost. */
export const reset: Behaviour = ({ socket }) => void socket.resetAndDestroy();
/** FIN, after what was sent. */
export const finish: Behaviour = ({ socket }) => void socket.end();
export const silence: Behaviour = () => undefined;
export const pause =
  (ms: number): Behaviour =>
  () =>
    sleep(ms);

export function sequence(...behaviours: readonly Behaviour[]): Behaviour {
  return async (wire) => {
    for (const behaviour of behaviours) await behaviour(wire);
  };
}

/** One byte at a time, for as long as the other side listens. */
export function drip(bytes: string, everyMs: number): Behaviour {
  return async ({ socket }) => {
    for (let index = 0; !socket.destroyed; index += 1) {
      socket.write(bytes[index % bytes.length] ?? "");
      await sleep(everyMs);
    }
  };
}

export interface RawAnswer {
  readonly status?: number;
  /** Repeated names are sent repeatedly. */
  readonly headers?: readonly (readonly [string, string])[];
  /** Default: what was asked for. */
  readonly body?: string | Uint8Array;
}

/** A whole answer, after which the connection stays open. */
export function answer({ status = 200, headers = [], body }: RawAnswer = {}): Behaviour {
  return ({ request, socket, done }) => {
    const bytes = Buffer.from(body ?? goodBody(request));
    const length: readonly [string, string][] =
      status === 204 || status === 304 ? [] : [["Content-Length", String(bytes.length)]];
    socket.write(head(status, [...headers, ...length]));
    socket.write(bytes);
    done();
  };
}

/** What the service answers when all is well. */
export const good: Behaviour = (wire) => answer({ status: wire.request.method === "DELETE" ? 204 : 200 })(wire);

/** The head of a 200 that promises the body that is due, or as many bytes as told. */
export function goodHead(lengthened = 0, ...headers: readonly (readonly [string, string])[]): Behaviour {
  return ({ request, socket }) => {
    const length = Buffer.byteLength(goodBody(request)) + lengthened;
    socket.write(head(200, [["Content-Type", "application/json"], ["Content-Length", String(length)], ...headers]));
  };
}

/** The first half of the body that is due. */
export const halfBody: Behaviour = ({ request, socket }) => {
  const body = goodBody(request);
  socket.write(body.slice(0, Math.ceil(body.length / 2)));
};

/** An answer in chunks that never ends. */
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

/** The body that is due, compressed, changed by `spoil`; its length is that of what is sent. */
export function gzipped(spoil: (bytes: Buffer) => Uint8Array): Behaviour {
  return (wire) => {
    const bytes = spoil(gzipSync(goodBody(wire.request) || "{}"));
    return answer({ headers: [["Content-Encoding", "gzip"]], body: bytes })(wire);
  };
}

export function head(status: number, headers: readonly (readonly [string, string])[]): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Whatever\r\n${lines.join("")}\r\n`;
}
