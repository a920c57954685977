import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { onTestFinished } from "vitest";
import { CA, SERVER } from "./certificates.ts";

/** One request as the service received it, after decryption. */
export interface Received {
  readonly method: string;
  readonly target: string;
  readonly authorization: string | undefined;
  /** The name in the client's certificate, if it sent one. */
  readonly client: string | undefined;
}

export interface TlsService {
  readonly baseUrl: string;
  readonly port: number;
  readonly received: readonly Received[];
  /** Connections whose handshake was completed or tried. */
  readonly connections: number;
}

/** A service behind TLS whose certificate only `CA` has signed; closed when the test is over. */
export async function tlsService(options: { readonly requestCert?: boolean } = {}): Promise<TlsService> {
  const received: Received[] = [];
  let connections = 0;
  const server = createServer(
    // With an authority the server would send it along, and show clients what they do not trust.
    options.requestCert ? { ...SERVER, ca: CA, requestCert: true, rejectUnauthorized: true } : SERVER,
    (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate(); // it is a TLS server
      received.push({
        method: request.method ?? "",
        target: request.url ?? "",
        authorization: request.headers.authorization,
        client: subject?.CN?.toString(),
      });
      request.resume();
      response.writeHead(200, { "content-type": "application/json" });
      response.end('{"id":"ses_1","state":"running"}');
    },
  );
  server.on("connection", () => {
    connections += 1;
  });
  server.on("tlsClientError", () => undefined); // the client that refuses the certificate is what the test wants
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    baseUrl: `https://localhost:${port}/api/v1`,
    port,
    received,
    get connections() {
      return connections;
    },
  };
}
