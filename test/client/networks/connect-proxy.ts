import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface ConnectProxy {
  readonly url: string;
  /** What it was asked for: `CONNECT host:port`. */
  readonly asked: readonly string[];
  /** Everything that passed through the tunnels, as it was on the wire. */
  readonly passed: () => string;
}

/** What a proxy asks of its users. */
export interface ProxyOptions {
  /** Refuses with 407 whatever comes without these, as `user:password`. */
  readonly credentials?: string;
  /** Opens no tunnel, and answers with this status. */
  readonly refuseWith?: number;
}

/** An HTTP proxy on the loopback: it tunnels by CONNECT. Closed when the test is over. */
export async function connectProxy({ credentials, refuseWith }: ProxyOptions = {}): Promise<ConnectProxy> {
  const asked: string[] = [];
  const passed: Buffer[] = [];
  const sockets = new Set<Socket>();
  const expected = credentials && `Basic ${Buffer.from(credentials).toString("base64")}`;
  const isAllowed = ({ headers }: IncomingMessage): boolean =>
    expected === undefined || headers["proxy-authorization"] === expected;
  const server = createServer();
  server.on("connect", (request, client: Socket, head: Buffer) => {
    asked.push(`CONNECT ${request.url}`);
    sockets.add(client);
    client.on("error", () => undefined); // resets follow from closing
    const refusal = refuseWith ?? (isAllowed(request) ? undefined : 407);
    if (refusal !== undefined) {
      client.end(`HTTP/1.1 ${refusal} Refused\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const [host = "", port = ""] = (request.url ?? "").split(":");
    const service = connect(Number(port), host === "localhost" ? "127.0.0.1" : host, () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      service.write(head);
      client.on("data", (chunk: Buffer) => passed.push(chunk));
      client.pipe(service).pipe(client);
    });
    sockets.add(service);
    service.on("error", () => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://${credentials ? `${credentials}@` : ""}127.0.0.1:${port}`,
    asked,
    passed: () => Buffer.concat(passed).toString("latin1"),
  };
}
