/** A server of bare sockets: a test scripts each response to the byte, and every request and connection is recorded. */
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { SELF_SIGNED } from "./self-signed.ts";

/** One request as it was received. */
export interface RawRequest {
  readonly index: number;
  /** Which connection it came on, from 0. */
  readonly connection: number;
  readonly method: string;
  readonly target: string;
  /** Names in lower case; of a repeated one, the last value. */
  readonly headers: Readonly<Record<string, string>>;
  /** Header fields in their order, with repetitions; names in lower case. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export interface RawConnection {
  readonly id: number;
  isClosed: boolean;
  /** Its latest request has no complete response yet. */
  owes: boolean;
}

/** A request without a response yet, and the socket to respond on. */
export interface Exchange {
  readonly request: RawRequest;
  readonly socket: Socket;
  /** Call it when the response is complete: the connection may stay open. */
  readonly done: () => void;
}

/** What the server does with a request. */
export type Behaviour = (exchange: Exchange) => void | Promise<void>;

/** Behaviours in the order of requests, of which the last one repeats; or a choice by request. */
export type Script = readonly Behaviour[] | ((request: RawRequest) => Behaviour);

export interface RawServer extends AsyncDisposable {
  readonly origin: string;
  /** {@link origin}, and the path of the service. */
  readonly baseUrl: string;
  readonly port: number;
  readonly requests: readonly RawRequest[];
  readonly connections: readonly RawConnection[];
  /** Connections that are open although their latest request has no complete response. */
  readonly owing: readonly RawConnection[];
  /** Resets every open connection, now. */
  readonly resetAll: () => void;
}

export interface RawServerOptions {
  /** Speaks TLS, with a self-signed certificate. */
  readonly tls?: boolean;
  /** Sent on each connection before any request. */
  readonly greeting?: string;
  /** The address to listen on. Default: `127.0.0.1`. */
  readonly host?: string;
}

export async function rawServer(script: Script, options: RawServerOptions = {}): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const connections: RawConnection[] = [];
  const sockets = new Set<Socket>();
  const accept = (socket: Socket): void => {
    const connection: RawConnection = { id: connections.length, isClosed: false, owes: false };
    connections.push(connection);
    sockets.add(socket);
    socket.setNoDelay(); // a second small write would wait for the receipt of the first, and a reset would come before it
    if (options.greeting !== undefined) socket.write(options.greeting);
    socket.on("error", () => undefined); // resets are expected; "close" follows
    socket.on("close", () => {
      connection.isClosed = true;
      sockets.delete(socket);
    });
    readRequests(socket, (head) => {
      const request = { ...head, index: requests.length, connection: connection.id };
      requests.push(request);
      connection.owes = true;
      const behaviour = typeof script === "function" ? script(request) : (script[request.index] ?? script.at(-1));
      const done = (): void => {
        connection.owes = false;
      };
      void behaviour?.({ request, socket, done });
    });
  };
  const server: Server = options.tls ? createTlsServer(SELF_SIGNED, accept) : createServer(accept);
  if (options.tls) server.on("tlsClientError", () => undefined); // the test expects the client to refuse the certificate
  const { host = "127.0.0.1" } = options;
  const port = await listen(server, host);
  const origin = `${options.tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return {
    origin,
    baseUrl: `${origin}/api/v1`,
    port,
    requests,
    connections,
    get owing() {
      return connections.filter(({ owes, isClosed }) => owes && !isClosed);
    },
    resetAll: () => {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/**
 * A port on which no server listens: it is outside the range that systems assign. A port that was free a moment ago may
 * belong to another test by now.
 */
export const CLOSED_PORT = 4;

async function listen(server: Server, host: string): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("a TCP server has an address");
  return address.port;
}

type Head = Pick<RawRequest, "method" | "target" | "headers" | "fields" | "body">;

function readRequests(socket: Socket, onRequest: (head: Head) => void): void {
  let buffered = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk]);
    for (;;) {
      const end = buffered.indexOf("\r\n\r\n");
      if (end < 0) return;
      const [requestLine = "", ...lines] = buffered.subarray(0, end).toString("latin1").split("\r\n");
      const [method = "", target = ""] = requestLine.split(" ");
      const fields = lines.map(parseHeader);
      const headers = Object.fromEntries(fields);
      if ("transfer-encoding" in headers) throw new Error("requests are expected to have a length");
      const length = Number(headers["content-length"] ?? 0);
      const bodyAt = end + 4;
      if (buffered.length < bodyAt + length) return;
      const body = buffered.subarray(bodyAt, bodyAt + length).toString("utf8");
      buffered = buffered.subarray(bodyAt + length);
      onRequest({ method, target, headers, fields, body });
    }
  });
}

function parseHeader(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
