/**
 * `not_sent` needs evidence about this one request: it fails with the error of a connection that was never made, and the
 * service knows whether it had come before.
 */
import { channel } from "node:diagnostics_channel";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest, type RequestListener, type Server } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server, createSecureServer } from "node:http2";
import type { AddressInfo, LookupFunction } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import nodeFetch from "node-fetch";
import {
  Agent,
  buildConnector,
  type Dispatcher,
  Dispatcher1Wrapper,
  getGlobalDispatcher,
  RetryAgent,
  setGlobalDispatcher,
  fetch as undiciFetch,
} from "undici";
import { describe, expect, onTestFinished, test } from "vitest";
import { type AutomationError, Client, type ClientOptions, type FetchFunction } from "../../../src/client/index.ts";
import { runProgram } from "../../support/child-program.ts";
import { rejection } from "../../support/promises.ts";
import { CLOSED_PORT } from "../../support/raw-server.ts";
import { CA, SERVER } from "../networks/certificates.ts";

const ISSUE = { title: "One", type: "bug" };
const CREATED = JSON.stringify({ number: 1, title: "One", status: "open" });
const RETRIES = { methods: ["POST"] as Dispatcher.HttpMethod[], minTimeout: 5, maxRetries: 3 };

interface Service {
  readonly port: number;
  readonly baseUrl: string;
  /** Requests that it has received as a whole. */
  readonly received: number;
  /** Resets its connections and listens no more, as when it is restarted. */
  readonly stop: () => void;
}

/** A service that answers each request when the test says so. */
async function service(answer: (at: number, stop: () => void) => string | undefined): Promise<Service> {
  let received = 0;
  const listener: RequestListener = (request, response) => {
    request.resume().on("end", () => {
      received += 1;
      const body = answer(received, stop);
      if (body !== undefined) response.writeHead(201, { "content-type": "application/json" }).end(body);
    });
  };
  const server: Server = createServer(listener);
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(stop);
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    port,
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    get received() {
      return received;
    },
    stop,
  };
}

/** A service that applies the first write, and is restarted before it answers. */
const restarting = (): Promise<Service> =>
  service((_, stop) => {
    stop();
    return undefined;
  });

const clientOf = (baseUrl: string, options: ClientOptions): Client =>
  new Client({ baseUrl, token: "t", retry: { minDelayMs: 0 }, ...options });
const create = (client: Client): Promise<unknown> => client.issues.create("web", ISSUE);

function closing<Closeable extends Dispatcher>(dispatcher: Closeable): Closeable {
  onTestFinished(() => dispatcher.destroy());
  return dispatcher;
}

describe("a dispatcher that retries", () => {
  const retrying = (): RetryAgent => closing(new RetryAgent(new Agent(), RETRIES));

  const WAYS: readonly [string, () => ClientOptions][] = [
    ["of undici's fetch", () => ({ fetch: undiciFetch, fetchOptions: { dispatcher: retrying() } })],
    ["of the platform's fetch", () => ({ fetchOptions: { dispatcher: new Dispatcher1Wrapper(retrying()) } })],
    [
      "for the whole process",
      () => {
        const before = getGlobalDispatcher();
        setGlobalDispatcher(retrying());
        onTestFinished(() => setGlobalDispatcher(before));
        return { fetch: undiciFetch };
      },
    ],
  ];

  test.each(WAYS)("%s: the write left, and is refused when it is sent again: unknown", async (_, options) => {
    const server = await restarting();
    const error = await rejection(create(clientOf(server.baseUrl, options())));
    expect(error).toMatchObject({ outcome: "unknown", platformCode: "ECONNREFUSED", attempts: 1 });
    expect(String(error)).toContain("the request was sent, and then its fetch failed: connect ECONNREFUSED 127.0.0.1");
    expect(server.received).toBe(1);
  });

  test.each(WAYS)("%s: the write never left: not_sent, and sent again", async (_, options) => {
    const error = await rejection(create(clientOf(`http://127.0.0.1:${CLOSED_PORT}/api/v1`, options())));
    expect(error).toMatchObject({ outcome: "not_sent", attempts: 3 });
  });

  test("that queues writes for its connections: none that left is not_sent", async () => {
    // The first is answered, the second is lost with the service; the third may not leave any more.
    const server = await service((at, stop) => {
      if (at === 1) return CREATED;
      stop();
      return undefined;
    });
    const dispatcher = closing(new RetryAgent(new Agent({ connections: 1 }), RETRIES));
    const client = clientOf(server.baseUrl, { fetch: undiciFetch, fetchOptions: { dispatcher }, retry: false });
    const settled = await Promise.allSettled([create(client), create(client), create(client)]);
    const outcomes = settled.map((one) =>
      one.status === "fulfilled" ? "created" : (one.reason as AutomationError).outcome,
    );
    expect(server.received).toBe(2);
    expect(outcomes.filter((outcome) => outcome === "created")).toHaveLength(1);
    expect(outcomes).toContain("unknown");
    expect(outcomes.filter((outcome) => outcome === "not_sent").length).toBeLessThanOrEqual(1);
  });

  test("over HTTP/2: unknown", async () => {
    let received = 0;
    const server = createSecureServer({ ...SERVER, allowHTTP1: false });
    const sessions = new Set<{ destroy: () => void }>();
    server.on("session", (session) => sessions.add(session));
    server.on("sessionError", () => undefined); // it is destroyed below
    server.on("stream", (stream) => {
      stream.on("error", () => undefined);
      stream.resume().on("end", () => {
        received += 1;
        server.close();
        for (const session of sessions) session.destroy();
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo; // it listens on a port
    const agent = new Agent({ allowH2: true, connect: { ca: CA } });
    const dispatcher = closing(new RetryAgent(agent, RETRIES));
    const options = { fetch: undiciFetch, fetchOptions: { dispatcher } };
    const error = await rejection(create(clientOf(`https://localhost:${port}/api/v1`, options)));
    expect(error).toMatchObject({ kind: "connection", outcome: "unknown", attempts: 1 });
    expect(received).toBe(1);
  });
});

describe("a fetch that was wrapped before the package was imported", () => {
  const PROGRAM = `
    const client = new Client({ baseUrl: process.env.BASE_URL, token: "t", retry: { minDelayMs: 0 } });
    const error = await client.issues.create("web", { title: "One", type: "bug" }).catch((error) => error);
    const { kind, outcome, attempts, message } = error;
    console.log(JSON.stringify({ kind, outcome, attempts, message }));`;

  async function run(baseUrl: string, instrumentation: string): Promise<unknown> {
    const folder = mkdtempSync(join(tmpdir(), "project-automation-instrumented-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "instrument.mjs");
    writeFileSync(file, `const platformFetch = globalThis.fetch;\n${instrumentation}`);
    const flags = ["--import", pathToFileURL(file).href];
    const { stdout, stderr } = await runProgram(PROGRAM, { flags, environment: { BASE_URL: baseUrl } });
    expect(stderr).toBe("");
    return JSON.parse(stdout);
  }

  const collector = (fails: string): string => `
    globalThis.fetch = async (...sent) => {
      const response = await platformFetch(...sent);
      ${fails};
      return response;
    };`;
  const coded = (code: string): string =>
    `throw Object.assign(new Error("connect ${code}"), { code: "${code}", syscall: "connect" })`;

  test.each<[string, string]>([
    ["a collector that is down", collector(`await platformFetch("http://127.0.0.1:${CLOSED_PORT}/")`)],
    ["a collector at a name that is unknown", collector(`await platformFetch("http://collector.invalid/")`)],
    ["a collector at a port that is blocked", collector(`await platformFetch("http://127.0.0.1:1/")`)],
    ["an error without a host", collector(coded("ECONNREFUSED"))],
    ["a connection that was reset", collector(coded("ECONNRESET"))],
    [
      "a mirror that is down",
      collector(`await platformFetch("http://127.0.0.1:${CLOSED_PORT}" + new URL(sent[0]).pathname, sent[1])`),
    ],
  ])("%s: one create makes one issue, and its outcome is unknown", async (_, instrumentation) => {
    const server = await service(() => CREATED);
    expect(await run(server.baseUrl, instrumentation)).toMatchObject({ outcome: "unknown", attempts: 1 });
    expect(server.received).toBe(1);
  });

  test("one that only passes on: a refused connection is not_sent, and sent again", async () => {
    const passing = "globalThis.fetch = async (...sent) => await platformFetch(...sent);";
    expect(await run(`http://127.0.0.1:${CLOSED_PORT}/api/v1`, passing)).toMatchObject({
      outcome: "not_sent",
      attempts: 3,
    });
  });

  test.each([
    ["GET", "the same", { outcome: "not_sent", attempts: 3 }],
    ["POST", "a write of its fetch, so unknown", { outcome: "unknown", attempts: 1 }],
  ])("one that reports a failure elsewhere by %s, and throws it on: %s", async (method, _, expected) => {
    const reporter = await service(() => "{}");
    const sent = method === "GET" ? "" : ", body: String(error)";
    const reporting = `
      globalThis.fetch = async (...sent) => {
        try {
          return await platformFetch(...sent);
        } catch (error) {
          await platformFetch("${reporter.baseUrl}", { method: "${method}"${sent} });
          throw error;
        }
      };`;
    expect(await run(`http://127.0.0.1:${CLOSED_PORT}/api/v1`, reporting)).toMatchObject(expected);
    expect(reporter.received).toBe(expected.attempts);
  });
});

describe("a function around fetch", () => {
  test("that mirrors each write to a host that is down, while the write is still connecting: unknown", async () => {
    const server = await service(() => CREATED);
    const connector = buildConnector({});
    let fail = (): void => {};
    const failed = new Promise<void>((resolve) => {
      fail = resolve;
    });
    const late = new Agent({ connect: (options, connected) => void failed.then(() => connector(options, connected)) });
    const dispatcher = closing(late);
    const mirroring: FetchFunction = async (url, init) => {
      const mirror = url.replace(`:${server.port}/`, `:${CLOSED_PORT}/`);
      const [response] = await Promise.all([undiciFetch(url, { ...init, dispatcher }), undiciFetch(mirror, init)]);
      return response;
    };
    const error = await rejection(create(clientOf(server.baseUrl, { fetch: mirroring })));
    expect(error).toMatchObject({ outcome: "unknown", platformCode: "ECONNREFUSED", attempts: 1 });
    fail();
    await expect.poll(() => server.received).toBe(1);
  });

  test("that tries again by itself: unknown", async () => {
    const server = await restarting();
    const again: FetchFunction = (url, init) => fetch(url, init).catch(() => fetch(url, init));
    const error = await rejection(create(clientOf(server.baseUrl, { fetch: again })));
    expect(error).toMatchObject({ outcome: "unknown", attempts: 1 });
    expect(server.received).toBe(1);
  });
});

describe("a fetch over node:http", () => {
  test.each<[string, ClientOptions]>([
    ["", {}],
    [", also of a client with a listener", { onEvent: () => undefined }],
    [", also of a client with instrumentation", { instrumentation: { begin: () => ({ around: (send) => send() }) } }],
  ])("that tries again by itself: unknown, and one issue%s", async (_, options) => {
    const server = await restarting();
    const again: FetchFunction = (url, init) => nodeFetch(url, init).catch(() => nodeFetch(url, init));
    const error = await rejection(create(clientOf(server.baseUrl, { fetch: again, ...options })));
    expect(error).toMatchObject({ outcome: "unknown", platformCode: "ECONNREFUSED", attempts: 1 });
    expect(server.received).toBe(1);
  });

  test("that asks once, also for a secret before: not_sent, and sent again", async () => {
    const vault = await service(() => "{}");
    const signing: FetchFunction = async (url, init) => {
      await nodeFetch(vault.baseUrl);
      return nodeFetch(url, init);
    };
    const error = await rejection(create(clientOf(`http://127.0.0.1:${CLOSED_PORT}/api/v1`, { fetch: signing })));
    expect(error).toMatchObject({ outcome: "not_sent", platformCode: "ECONNREFUSED", attempts: 3 });
    expect(vault.received).toBe(3);
  });
});

describe("a fetch that tries another way first: that way may have done the write, so unknown, and tried once", () => {
  const viaHttp = (url: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      httpRequest(url, { method: "POST" }, resolve).on("error", reject).end("{}");
    });
  const viaHttp2 = (url: string): Promise<unknown> =>
    new Promise((_, reject) => {
      const session = connectHttp2(url).on("error", reject);
      const stream = session.request({ ":method": "POST", ":path": "/rpc" }).on("error", reject);
      stream.on("close", () => reject(new Error("closed"))).end("{}");
    });
  const PATH = "/api/v1/projects/web/issues";

  test.each<[string, (gateway: string) => Promise<unknown>]>([
    ["fetch, the URL in the query", (gateway) => fetch(`${gateway}/edge?to=x`, { method: "POST", body: "{}" })],
    ["fetch, an envelope", (gateway) => fetch(`${gateway}/rpc`, { method: "PUT", body: "{}" })],
    ["undici's fetch, the path with a suffix", (gateway) => undiciFetch(`${gateway}${PATH}/v2`, { method: "POST" })],
    ["node:http, another path", (gateway) => viaHttp(`${gateway}/rpc`)],
    ["node:http, the same path", (gateway) => viaHttp(`${gateway}${PATH}`)],
    ["a write of another client", (gateway) => create(clientOf(`${gateway}/api/v1`, { retry: false }))],
  ])("%s", async (_, way) => {
    const gateway = await restarting();
    const first: FetchFunction = async (url, init) => {
      await way(`http://127.0.0.1:${gateway.port}`).catch(() => undefined);
      return fetch(url, init);
    };
    const error = await rejection(create(clientOf(`http://127.0.0.1:${CLOSED_PORT}/api/v1`, { fetch: first })));
    expect(error).toMatchObject({ outcome: "unknown", attempts: 1 });
    expect(gateway.received).toBe(1);
  });

  test.each(["before", "after"])("node:http2, %s the service itself was tried", async (when) => {
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
    const way = (): Promise<unknown> => viaHttp2(`http://127.0.0.1:${port}`).catch(() => undefined);
    const other: FetchFunction = async (url, init) => {
      if (when === "before") await way();
      try {
        return await fetch(url, init);
      } catch (error) {
        if (when === "after") await way();
        throw error;
      }
    };
    const error = await rejection(create(clientOf(`http://127.0.0.1:${CLOSED_PORT}/api/v1`, { fetch: other })));
    expect({ error, received }).toMatchObject({ error: { outcome: "unknown", attempts: 1 }, received: 1 });
  });

  test("a read first, by fetch or node:http, is no write: not_sent, and sent again", async () => {
    const vault = await service(() => "{}");
    const signing: FetchFunction = async (url, init) => {
      await (await fetch(vault.baseUrl)).text();
      await nodeFetch(vault.baseUrl);
      return fetch(url, init);
    };
    const error = await rejection(create(clientOf(`http://127.0.0.1:${CLOSED_PORT}/api/v1`, { fetch: signing })));
    expect(error).toMatchObject({ outcome: "not_sent", attempts: 3 });
  });

  test("a token provider and onRequest are not in it: what they write is not the write's", async () => {
    const vault = await service(() => "{}");
    const write = async (): Promise<void> => void (await (await fetch(vault.baseUrl, { method: "POST" })).text());
    const client = new Client({
      baseUrl: `http://127.0.0.1:${CLOSED_PORT}/api/v1`,
      token: () => write().then(() => "t"),
      retry: { minDelayMs: 0 },
    });
    const call = client.issues.create("web", ISSUE, { onRequest: write });
    expect(await rejection(call)).toMatchObject({ outcome: "not_sent", attempts: 3 });
  });
});

describe("a service whose name resolves to an address, so that the error names only that", () => {
  const lookup: LookupFunction = (_, options, found) =>
    options.all ? found(null, [{ address: "127.0.0.1", family: 4 }]) : found(null, "127.0.0.1", 4);
  const agent = (): Agent => closing(new Agent({ connect: { lookup } }));

  test.each<[string, () => ClientOptions]>([
    ["the platform's fetch", () => ({ fetchOptions: { dispatcher: new Dispatcher1Wrapper(agent()) } })],
    ["undici's fetch", () => ({ fetch: undiciFetch, fetchOptions: { dispatcher: agent() } })],
    [
      "a wrapper of it",
      () => {
        const dispatcher = agent();
        return { fetch: (url, init) => undiciFetch(url, { ...init, dispatcher }) };
      },
    ],
  ])("%s: not_sent, and sent again, by what Node tells of the request", async (_, options) => {
    const baseUrl = `https://service.example.com:${CLOSED_PORT}/api/v1`;
    const error = await rejection(create(clientOf(baseUrl, options())));
    expect(error).toMatchObject({ outcome: "not_sent", platformCode: "ECONNREFUSED", attempts: 3 });
  });

  test("a fetch of which Node does not tell: unknown", async () => {
    const { Agent: HttpAgent } = await import("node:http");
    const viaNode: FetchFunction = (url, init) => nodeFetch(url, { ...init, agent: new HttpAgent({ lookup }) });
    const baseUrl = `http://service.example.com:${CLOSED_PORT}/api/v1`;
    const error = await rejection(create(clientOf(baseUrl, { fetch: viaNode, allowInsecureHttp: true })));
    expect(error).toMatchObject({ outcome: "unknown", platformCode: "ECONNREFUSED", attempts: 1 });
  });
});

test.each<[number, string, ClientOptions]>([
  [1, "", {}],
  [20, "", {}],
  [20, ", of a client with a listener", { onEvent: () => undefined }],
])("in an outage the writes that were refused are not_sent, beside %i that left%s", async (leaving, _, options) => {
  const total = 40;
  // It never answers: it goes when all that could come have come, and the others have been refused.
  const server = await service(() => undefined);
  const connector = buildConnector({});
  let connections = 0;
  const dispatcher = closing(
    new Agent({
      connect: (options, connected) => {
        connections += 1;
        connector({ ...options, port: String(connections <= leaving ? server.port : CLOSED_PORT) }, connected);
      },
    }),
  );
  const rateLimits = { maxConcurrency: total, retry: false } as const;
  const client = clientOf(server.baseUrl, {
    fetch: undiciFetch,
    fetchOptions: { dispatcher },
    ...rateLimits,
    ...options,
  });
  const outcomes: unknown[] = [];
  const writes = Array.from({ length: total }, () =>
    rejection(create(client)).then((error) => outcomes.push((error as { outcome: unknown }).outcome)),
  );
  await expect.poll(() => [server.received, outcomes.length]).toEqual([leaving, total - leaving]);
  expect(new Set(outcomes)).toEqual(new Set(["not_sent"]));
  server.stop();
  await Promise.all(writes);
  expect(outcomes.slice(total - leaving)).toEqual(Array(leaving).fill("unknown"));
});

describe("the channels of the platform are listened to while a write is under way, and at no other time", () => {
  const isListening = (): boolean =>
    [
      "undici:request:create",
      "undici:client:connectError",
      "undici:client:sendHeaders",
      "undici:request:error",
      "http.client.request.start",
      "net.client.socket",
    ].some((name) => channel(name).hasSubscribers);

  test("not by a client, nor by a read; by a write, until its response is there", async () => {
    const seen: [string, boolean][] = [];
    const fetch: FetchFunction = async (_, init) => {
      seen.push([init.method, isListening()]);
      return new Response(init.method === "POST" ? CREATED : '{"id":"1","state":"on"}');
    };
    const client = clientOf("https://service.example.com/api/v1", { fetch });
    expect(isListening()).toBe(false);
    await client.sessions.get("1");
    await Promise.all([create(client), create(client)]);
    expect(isListening()).toBe(false);
    await client.sessions.get("1");
    expect(seen).toEqual([
      ["GET", false],
      ["POST", true],
      ["POST", true],
      ["GET", false],
    ]);
  });

  test.each<[string, FetchFunction]>([
    ["fails", () => Promise.reject(new Error("no"))],
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
    ["never ends, and does not heed its signal", () => new Promise(() => undefined)],
  ])("also by a write whose fetch %s", async (_, fetch) => {
    const client = clientOf("https://service.example.com/api/v1", { fetch, timeoutMs: 20, retry: false });
    expect(await rejection(create(client))).toMatchObject({ outcome: "unknown" });
    expect(isListening()).toBe(false);
  });

  test("what others publish there breaks nothing", async () => {
    const fetch: FetchFunction = async () => {
      for (const message of [undefined, 5, {}, { request: {} }]) channel("undici:request:create").publish(message);
      return new Response(CREATED);
    };
    expect(await create(clientOf("https://service.example.com/api/v1", { fetch }))).toMatchObject({ number: 1 });
  });
});
