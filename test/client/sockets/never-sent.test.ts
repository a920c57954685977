/**
 * `not_sent` of a write that was handed to `fetch`, with real transports: those that Node's channels show from the first turn
 * to the last one, and no other. Each condition of that is a row of `unit/call/write-evidence.test.ts`.
 */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo, LookupFunction } from "node:net";
import nodeFetch from "node-fetch";
import { Agent, buildConnector, Dispatcher1Wrapper, ProxyAgent, RetryAgent, fetch as undiciFetch } from "undici";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type AutomationError, Client, type ClientOptions, type FetchFunction } from "../../../src/client/index.ts";
import { rejection } from "../../support/promises.ts";
import { CLOSED_PORT } from "../../support/raw-server.ts";

const ISSUE = { title: "One", type: "bug" };
const CREATED = JSON.stringify({ number: 1, title: "One", status: "open" });
const CLOSED = `http://127.0.0.1:${CLOSED_PORT}`;

interface Service {
  readonly origin: string;
  readonly port: number;
  /** Requests that it has received as a whole. */
  readonly received: number;
  /** Resets its connections and listens no more, as when it is restarted. */
  readonly stop: () => void;
}

/** A service that answers a request when the test says so. */
async function service(answer: (stop: () => void) => string | undefined): Promise<Service> {
  let received = 0;
  const listener: RequestListener = (request, response) => {
    request.resume().on("end", () => {
      received += 1;
      const body = answer(stop);
      if (body !== undefined) response.writeHead(201, { "content-type": "application/json" }).end(body);
    });
  };
  const server = createServer(listener);
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(stop);
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    get received() {
      return received;
    },
    stop,
  };
}

/** A service that applies the first write, and is restarted before it answers. */
const restarting = (): Promise<Service> =>
  service((stop) => {
    stop();
    return undefined;
  });
const answering = (): Promise<Service> => service(() => CREATED);

const clientOf = (origin: string, options: ClientOptions): Client =>
  new Client({ baseUrl: `${origin}/api/v1`, token: "t", retry: { minDelayMs: 0 }, ...options });
const create = (client: Client): Promise<unknown> => client.issues.create("web", ISSUE);

describe("refused, and not_sent, so it is sent again", () => {
  const over = (dispatcher: Agent | ProxyAgent): ClientOptions => {
    onTestFinished(() => dispatcher.destroy());
    return { fetchOptions: { dispatcher: new Dispatcher1Wrapper(dispatcher) } };
  };
  const lookup: LookupFunction = (_, options, found) =>
    options.all ? found(null, [{ address: "127.0.0.1", family: 4 }]) : found(null, "127.0.0.1", 4);

  test.each<[string, () => ClientOptions]>([
    ["the platform's fetch", () => ({})],
    ["undici's fetch", () => ({ fetch: undiciFetch })],
    ["a function that passes on", () => ({ fetch: async (url, init) => await fetch(url, init) })],
    [
      "a function with an error of its own, which has that of the platform as its cause",
      () => ({
        fetch: (url, init) => fetch(url, init).catch((cause) => Promise.reject(new Error("gateway", { cause }))),
      }),
    ],
    ["an agent that looks up the name", () => over(new Agent({ connect: { lookup } }))],
    ["an agent of HTTP/2", () => over(new Agent({ allowH2: true }))],
    ["a proxy with a tunnel", () => over(new ProxyAgent(CLOSED))],
    ["a proxy without a tunnel", () => over(new ProxyAgent({ uri: CLOSED, proxyTunnel: false }))],
  ])("%s", async (_, options) => {
    expect(await rejection(create(clientOf(CLOSED, options())))).toMatchObject({ outcome: "not_sent", attempts: 3 });
  });

  test("what a token provider, onRequest and an instrumentation write is not the write's", async () => {
    const vault = await answering();
    const write = async (): Promise<void> => void (await (await fetch(vault.origin, { method: "POST" })).text());
    const client = clientOf(CLOSED, {
      token: () => write().then(() => "t"),
      instrumentation: { begin: () => ({ around: (send) => write().then(send) }) },
    });
    const call = client.issues.create("web", ISSUE, { onRequest: write });
    expect(await rejection(call)).toMatchObject({ outcome: "not_sent", attempts: 3 });
    expect(vault.received).toBe(9);
  });

  test("beside 20 writes that left: each has the outcome of its own request", async () => {
    const [leaving, total] = [20, 40];
    // It never answers: it goes when all that could come have come, and the others have been refused.
    const server = await service(() => undefined);
    const connector = buildConnector({});
    let connections = 0;
    const connect: buildConnector.connector = (options, connected) => {
      connections += 1;
      connector({ ...options, port: String(connections <= leaving ? server.port : CLOSED_PORT) }, connected);
    };
    const options = { ...over(new Agent({ connect })), maxConcurrency: total, retry: false } as const;
    const client = clientOf(server.origin, options);
    const outcomes: unknown[] = [];
    const writes = Array.from({ length: total }, () =>
      rejection(create(client)).then((error) => outcomes.push((error as AutomationError).outcome)),
    );
    await expect.poll(() => [server.received, outcomes.length]).toEqual([leaving, total - leaving]);
    expect(new Set(outcomes)).toEqual(new Set(["not_sent"]));
    server.stop();
    await Promise.all(writes);
    expect(outcomes.slice(total - leaving)).toEqual(Array(leaving).fill("unknown"));
  });
});

const isUnknown = { outcome: "unknown", attempts: 1 };
const waits = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve));

describe("refused, and it may have gone another way, so unknown, and tried once", () => {
  test.each<[string, FetchFunction]>([
    ["a function that waits first", (url, init) => waits().then(() => fetch(url, init))],
    [
      "a function that waits at last",
      (url, init) => fetch(url, init).catch((error) => waits().then(() => Promise.reject(error))),
    ],
    ["a function that hides the error", (url, init) => fetch(url, init).catch(() => Promise.reject(new Error("mine")))],
    ["a function that asks elsewhere", (url, init) => fetch(`${url}/v2`, init)],
    ["node:http", nodeFetch],
    ["words alone", () => Promise.reject(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }))],
  ])("%s", async (_, fetch) => {
    expect(await rejection(create(clientOf(CLOSED, { fetch })))).toMatchObject(isUnknown);
  });

  test.each<[string, (origin: string) => Promise<unknown>]>([
    ["fetch", (origin) => fetch(`${origin}/rpc`, { method: "PUT", body: "{}" })],
    ["node:http", (origin) => nodeFetch(`${origin}/rpc`, { method: "POST", body: "{}" })],
    ["another client", (origin) => create(clientOf(origin, { retry: false }))],
  ])("by %s, which begins in the turn of the refusal", async (_, way) => {
    const gateway = await restarting();
    const beside: FetchFunction = (url, init) =>
      fetch(url, init).catch((error: unknown) => {
        way(gateway.origin).catch(() => undefined);
        throw error;
      });
    expect(await rejection(create(clientOf(CLOSED, { fetch: beside })))).toMatchObject(isUnknown);
    await expect.poll(() => gateway.received).toBe(1);
  });

  test.each(["before", "after"])("by node:http2, which no channel shows, %s the service was tried", async (when) => {
    const gateway = createHttp2Server();
    let received = 0;
    gateway.on("stream", (stream) => {
      received += 1;
      stream.on("error", () => undefined);
      stream.session?.destroy();
    });
    gateway.listen(0, "127.0.0.1");
    onTestFinished(() => void gateway.close());
    await once(gateway, "listening");
    const { port } = gateway.address() as AddressInfo; // it listens on a port
    const way = (): Promise<unknown> =>
      new Promise((resolve) => {
        const session = connectHttp2(`http://127.0.0.1:${port}`).on("error", resolve);
        const stream = session.request({ ":method": "POST", ":path": "/rpc" }).on("error", resolve);
        stream.on("close", resolve).end("{}");
      });
    const other: FetchFunction = async (url, init) => {
      if (when === "before") await way();
      try {
        return await fetch(url, init);
      } catch (error) {
        if (when === "after") await way();
        throw error;
      }
    };
    const error = await rejection(create(clientOf(CLOSED, { fetch: other })));
    expect({ error, received }).toMatchObject({ error: isUnknown, received: 1 });
  });
});

describe("applied, and its last connection refused: unknown, and applied once", () => {
  test.each<[string, ClientOptions]>([
    ["a function that tries again", { fetch: (url, init) => fetch(url, init).catch(() => fetch(url, init)) }],
    ["node:http, tried again", { fetch: (url, init) => nodeFetch(url, init).catch(() => nodeFetch(url, init)) }],
  ])("%s", async (_, options) => {
    const server = await restarting();
    expect(await rejection(create(clientOf(server.origin, options)))).toMatchObject(isUnknown);
    expect(server.received).toBe(1);
  });

  test("a dispatcher that retries", async () => {
    const dispatcher = new RetryAgent(new Agent(), { methods: ["POST"], minTimeout: 5 });
    onTestFinished(() => dispatcher.destroy());
    const server = await restarting();
    const error = await rejection(
      create(clientOf(server.origin, { fetch: undiciFetch, fetchOptions: { dispatcher } })),
    );
    expect(error).toMatchObject({ ...isUnknown, platformCode: "ECONNREFUSED" });
    expect(server.received).toBe(1);
  });

  test("a function that mirrors each write, to a host that is down, while the write is still connecting", async () => {
    const server = await answering();
    let fail = (): void => {};
    const failed = new Promise<void>((resolve) => {
      fail = resolve;
    });
    const connector = buildConnector({});
    const dispatcher = new Agent({
      connect: (options, connected) => void failed.then(() => connector(options, connected)),
    });
    onTestFinished(() => dispatcher.destroy());
    const mirroring: FetchFunction = async (url, init) => {
      const mirror = url.replace(server.origin, CLOSED);
      const [response] = await Promise.all([undiciFetch(url, { ...init, dispatcher }), undiciFetch(mirror, init)]);
      return response;
    };
    expect(await rejection(create(clientOf(server.origin, { fetch: mirroring })))).toMatchObject(isUnknown);
    fail();
    await expect.poll(() => server.received).toBe(1);
  });

  test("node:http, and then a read that is refused", async () => {
    const server = await answering();
    const reading: FetchFunction = async (url, init) => {
      await nodeFetch(url.replace(CLOSED, server.origin), init);
      return await fetch(url);
    };
    expect(await rejection(create(clientOf(CLOSED, { fetch: reading })))).toMatchObject(isUnknown);
    expect(server.received).toBe(1);
  });
});

test("the channels are listened to from the first write of the process on, once: not by an import, a client or a read", async () => {
  const subscribe = vi.spyOn(process.getBuiltinModule("node:diagnostics_channel"), "subscribe");
  onTestFinished(() => subscribe.mockRestore());
  vi.resetModules();
  const { Client: FreshClient } = await import("../../../src/client/index.ts");
  const server = await answering();
  const clients = [1, 2].map(() => new FreshClient({ baseUrl: `${server.origin}/api/v1`, token: "t", retry: false }));
  await Promise.allSettled(clients.map(({ sessions }) => sessions.get("1")));
  expect(subscribe).not.toHaveBeenCalled();
  await Promise.all([...clients, ...clients].map(create));
  const names = subscribe.mock.calls.map(([name]) => name);
  expect(names).toContain("undici:client:connectError");
  expect(new Set(names).size).toBe(names.length);
});
