import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** One request as it was on the wire: the raw target of its request line, and header fields with their repetitions. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export interface HttpServer {
  readonly origin: string;
  readonly port: number;
  readonly seen: readonly RawRequest[];
}

/** A real server on the loopback that speaks proper HTTP; closed when the test is over. */
export async function serve(
  answer: (response: ServerResponse, seen: RawRequest) => void,
  host = "127.0.0.1",
): Promise<HttpServer> {
  const seen: RawRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { rawHeaders } = request;
      const headers = rawHeaders.flatMap((name, at) =>
        at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1] ?? ""] as const] : [],
      );
      const body = Buffer.concat(chunks).toString();
      const one = { method: request.method ?? "", target: request.url ?? "", headers, body };
      seen.push(one);
      answer(response, one);
    });
  });
  server.listen(0, host);
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  return { origin: `http://${host.includes(":") ? `[${host}]` : host}:${port}`, port, seen };
}

export function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
