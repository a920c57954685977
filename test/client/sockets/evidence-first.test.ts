/**
 * What Node saw of a write comes before the words of its error: a connection that was never made, and a stream that the
 * other side has not processed, mean that the write was not sent, whatever the error is called.
 */
import { once } from "node:events";
import { createSecureServer } from "node:http2";
import { type AddressInfo, createServer, type LookupFunction, type Socket } from "node:net";
import { Agent, type Dispatcher, fetch as undiciFetch } from "undici";
import { describe, expect, onTestFinished, test } from "vitest";
import { Client, type ClientOptions, type FetchFunction } from "../../../src/client/index.ts";
import { runProgram } from "../../support/child-program.ts";
import { rejection } from "../../support/promises.ts";
import { CA, CA_FILE, SERVER } from "../networks/certificates.ts";
import { findRuntimes } from "../runtimes/binaries.ts";

const clientOf = (baseUrl: string, options: ClientOptions = {}): Client =>
  new Client({ baseUrl, token: "t", retry: { minDelayMs: 0 }, ...options });
const create = (client: Client): Promise<unknown> => client.issues.create("web", { title: "One", type: "bug" });

function closing<Closeable extends Dispatcher>(dispatcher: Closeable): Closeable {
  onTestFinished(() => dispatcher.destroy());
  return dispatcher;
}

/** Listens at a port of this machine, and counts its connections. */
async function listener(
  connected: (socket: Socket) => void,
): Promise<{ readonly port: number; readonly count: number }> {
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    socket.on("error", () => undefined);
    connected(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    port,
    get count() {
      return count;
    },
  };
}

describe("a handshake of TLS that ends", () => {
  const WAYS: readonly [string, (socket: Socket) => void][] = [
    ["with a reset", (socket) => socket.once("data", () => socket.resetAndDestroy())],
    ["with the end of the connection", (socket) => socket.once("data", () => socket.end())],
    ["before it began", (socket) => socket.destroy()],
  ];

  test.each(WAYS)("%s: not_sent, and sent again", async (_, end) => {
    const balancer = await listener(end);
    const error = await rejection(create(clientOf(`https://127.0.0.1:${balancer.port}/api/v1`)));
    expect(error).toMatchObject({ kind: "connection", outcome: "not_sent", attempts: 3 });
    expect(balancer.count).toBe(3);
  });

  test("of another request, while the write has left: unknown", async () => {
    const balancer = await listener((socket) => socket.destroy());
    const service = await listener((socket) => socket.once("data", () => socket.resetAndDestroy()));
    const mirrored: FetchFunction = async (url, init) => {
      await fetch(url, init).catch(() => undefined);
      return fetch(`https://127.0.0.1:${balancer.port}/`, init);
    };
    const baseUrl = `http://127.0.0.1:${service.port}/api/v1`;
    expect(await rejection(create(clientOf(baseUrl, { fetch: mirrored })))).toMatchObject({ outcome: "unknown" });
    expect(service.count).toBe(1);
  });
});

describe("a connection that breaks when the headers have left", () => {
  test.each<[string, (socket: Socket) => void]>([
    ["with a reset", (socket) => socket.resetAndDestroy()],
    ["with its end", (socket) => socket.end()],
  ])("%s: unknown, and sent once", async (_, end) => {
    const service = await listener((socket) => socket.once("data", () => end(socket)));
    const error = await rejection(create(clientOf(`http://127.0.0.1:${service.port}/api/v1`)));
    expect({ error, count: service.count }).toMatchObject({ error: { outcome: "unknown", attempts: 1 }, count: 1 });
  });
});

test.each<[string, Error]>([
  ["ETIMEOUT of c-ares", Object.assign(new Error("queryA ETIMEOUT"), { code: "ETIMEOUT", syscall: "queryA" })],
  ["EMFILE", Object.assign(new Error("getaddrinfo EMFILE"), { code: "EMFILE", syscall: "getaddrinfo" })],
  ["a code that nobody knows", Object.assign(new Error("no"), { code: "E_MINE" })],
  ["the words of a response", Object.assign(new Error("no"), { code: "HPE_INVALID_CONSTANT" })],
  ["words of a page", new TypeError("Failed to fetch")],
  ["no code", new Error("the look-up has failed")],
])("a look-up that fails with %s: not_sent, and sent again", async (_, failure) => {
  const lookup: LookupFunction = (_name, _options, found) => found(failure, "", 4);
  const dispatcher = closing(new Agent({ connect: { lookup } }));
  const client = clientOf("https://service.example.com/api/v1", { fetch: undiciFetch, fetchOptions: { dispatcher } });
  expect(await rejection(create(client))).toMatchObject({ outcome: "not_sent", attempts: 3 });
});

describe("a GOAWAY of HTTP/2", () => {
  interface Service {
    port: number;
    /** Writes that were processed. */
    applied: number;
  }

  /**
   * Answers the first stream of each connection. At the second, a GOAWAY names one of both as the last that is processed;
   * the connection breaks if that is the second.
   */
  async function goingAway(isSecondProcessed: boolean): Promise<Service> {
    const at = { port: 0, applied: 0 };
    const server = createSecureServer({ ...SERVER, allowHTTP1: false });
    server.on("sessionError", () => undefined);
    server.on("stream", (stream, { ":method": method }) => {
      const { session } = stream;
      const isFirst = stream.id === 1;
      stream.on("error", () => undefined);
      stream.resume().on("end", () => {
        if (method === "POST" && (isFirst || isSecondProcessed)) at.applied += 1;
        if (isFirst) {
          stream.respond({ ":status": 200, "content-type": "application/json" });
          stream.end(method === "POST" ? CREATED : SESSION);
          return;
        }
        session?.goaway(0, isSecondProcessed ? stream.id : 1);
        if (isSecondProcessed) setImmediate(() => session?.destroy());
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    at.port = (server.address() as AddressInfo).port; // it listens on a port
    return at;
  }

  const CREATED = JSON.stringify({ number: 1, title: "One", status: "open" });
  const SESSION = JSON.stringify({ id: "1", state: "on" });

  describe("to undici", () => {
    async function warm(port: number, more: ClientOptions = {}): Promise<Client> {
      const dispatcher = closing(new Agent({ allowH2: true, connect: { ca: CA } }));
      const options = { fetch: undiciFetch, fetchOptions: { dispatcher }, timeoutMs: 5_000, ...more };
      const client = clientOf(`https://localhost:${port}/api/v1`, options);
      await client.sessions.get("1");
      return client;
    }

    test("that names an earlier stream than the write's: not_sent", async () => {
      const service = await goingAway(false);
      const error = await rejection(create(await warm(service.port, { retry: false })));
      expect(error).toMatchObject({ outcome: "not_sent", platformCode: "UND_ERR_INFO", attempts: 1 });
      expect(service.applied).toBe(0);
    });

    test("that names an earlier stream, and the client sends the write again: created once", async () => {
      const service = await goingAway(false);
      expect(await create(await warm(service.port))).toMatchObject({ number: 1 });
      expect(service.applied).toBe(1);
    });

    test("that names the write's stream: unknown, and sent once", async () => {
      const service = await goingAway(true);
      const error = await rejection(create(await warm(service.port)));
      expect({ error, ...service }).toMatchObject({ error: { outcome: "unknown", attempts: 1 }, applied: 1 });
    });

    test("that names an earlier stream, when another way may have done the write before: unknown", async () => {
      const service = await goingAway(false);
      const gateway = await listener((socket) => socket.once("data", () => socket.resetAndDestroy()));
      const first: FetchFunction = async (url, init) => {
        if (init.method === "POST")
          await undiciFetch(`http://127.0.0.1:${gateway.port}/`, { method: "POST" }).catch(() => undefined);
        return undiciFetch(url, init);
      };
      const error = await rejection(create(await warm(service.port, { fetch: first })));
      expect(error).toMatchObject({ outcome: "unknown", attempts: 1 });
    });
  });

  const nodes = findRuntimes().here.filter(({ name }) => name === "Node 26");

  test.each(
    nodes.flatMap((node) => [
      { node, isProcessed: false, told: { outcome: "not_sent" }, applied: 0 },
      { node, isProcessed: true, told: { outcome: "unknown" }, applied: 1 },
    ]),
  )(
    "to the fetch of $node.name, processed $isProcessed: $told.outcome",
    async ({ node, isProcessed, told, applied }) => {
      const service = await goingAway(isProcessed);
      const program = `
      const baseUrl = "https://localhost:${service.port}/api/v1";
      const client = new Client({ baseUrl, token: "t", retry: false, timeoutMs: 5_000 });
      await client.sessions.get("1");
      const told = await client.issues.create("web", { title: "One", type: "bug" }).catch((error) => error);
      console.log(JSON.stringify(told));`;
      const environment = { NODE_EXTRA_CA_CERTS: CA_FILE };
      const { stdout } = await runProgram(program, { executable: node.executable, environment });
      expect({ told: JSON.parse(stdout) as unknown, applied: service.applied }).toMatchObject({ told, applied });
    },
  );
});
