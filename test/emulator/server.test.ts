import { networkInterfaces } from "node:os";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunningEmulator, StartOptions } from "../../src/testing/node.ts";
import { startEmulator } from "../../src/testing/node.ts";
import { TEST_LIMIT_MS } from "../support/limits.ts";
import type { RawSocket } from "./raw-socket.ts";
import { openSocket, parseResponse } from "./raw-socket.ts";

let running: RunningEmulator;
beforeEach(async () => {
  running = await startEmulator({ rateLimit: false });
});
afterEach(() => running.close());

const restart = async (options: StartOptions): Promise<void> => {
  await running.close();
  running = await startEmulator(options);
};
/** Long enough for a request that is sent as a whole, on a slow machine too. */
const IMPATIENT: StartOptions = { rateLimit: false, headersTimeoutMs: 1_000, requestTimeoutMs: 1_500 };
const open = (): Promise<RawSocket> => openSocket(running.baseUrl);
const authorization = (): string => `authorization: Bearer ${running.token}`;
const request = (line: string, ...headers: string[]): string =>
  [`${line} HTTP/1.1`, "host: localhost", authorization(), ...headers, "", ""].join("\r\n");
const answerTo = async (...parts: (string | Uint8Array)[]): Promise<ReturnType<typeof parseResponse>> => {
  const raw = await open();
  for (const part of parts) raw.write(part);
  return parseResponse(await raw.ended);
};
const alive = async (): Promise<void> => {
  const response = await fetch(`${running.baseUrl}/projects`, {
    headers: { authorization: `Bearer ${running.token}` },
  });
  expect(((await response.json()) as { data: unknown[] }).data).toHaveLength(running.emulator.projects.list().length);
};

describe("HEAD, as readiness probes send it", () => {
  test.each([
    ["the page", "/", 200],
    ["its stream", "/_emulator/events", 200],
    ["a request that is not kept", "/_emulator/requests/1", 404],
    ["a list", "/api/v1/projects", 200],
    ["a session that is not there", "/api/v1/sessions/none", 404],
    ["a path that is only written to", "/api/v1/me/tokens", 405],
    ["no endpoint", "/nowhere", 404],
  ])("of %s is GET without the body", async (_, path, status) => {
    await restart({ page: true });
    const url = new URL(path, running.baseUrl);
    const headers = { authorization: `Bearer ${running.token}` };
    const [head, got] = await Promise.all(["HEAD", "GET"].map((method) => fetch(url, { method, headers })));
    expect([head?.status, got?.status]).toEqual([status, status]);
    expect(head?.headers.get("content-type")).toBe(got?.headers.get("content-type"));
    expect(await head?.text()).toBe("");
    await got?.body?.cancel();
  });

  test("of a route of your own that answers GET", async () => {
    running.emulator.route({ method: "GET", path: "/health", handle: () => ({ body: "fine" }) });
    const headers = { authorization: `Bearer ${running.token}` };
    const response = await fetch(`${running.baseUrl}/health`, { method: "HEAD", headers });
    expect([response.status, response.headers.get("content-length")]).toEqual([200, "4"]);
  });
});

describe("the address", () => {
  test("is a free port of loopback, with the version segment", async () => {
    expect(running.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/);
    expect(running.baseUrl).toBe(running.emulator.baseUrl);
    expect(running.clientOptions).toEqual({ baseUrl: running.baseUrl, token: running.token });
    await alive();
    const outside = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ internal, family }) => !internal && family === "IPv4");
    if (outside === undefined) return;
    const { port } = new URL(running.baseUrl);
    await expect(fetch(`http://${outside.address}:${port}/`)).rejects.toMatchObject({
      cause: { code: "ECONNREFUSED" },
    });
  });

  test("may be IPv6", async () => {
    try {
      await restart({ host: "[::1]" });
    } catch (error) {
      // A machine may have no IPv6; then all there is to see is that the error says so.
      return expect(String(error)).toContain("::1 is not an address of this machine");
    }
    expect(running.baseUrl).toMatch(/^http:\/\/\[::1\]:\d+\/api\/v1$/);
    await alive();
  });

  test("of all of a machine is told as loopback, which clients of every system reach", async () => {
    await restart({ host: "0.0.0.0" });
    expect(running.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/);
    await alive();
  });

  test("that clients use may differ from the server's own; its path is served", async () => {
    await restart({ baseUrl: "https://gateway.example/automation/api/v1" });
    expect(running.baseUrl).toBe("https://gateway.example/automation/api/v1");
    expect(running.emulator.requests).toEqual([]);
  });

  test("that is taken is an error that says so", async () => {
    const port = Number(new URL(running.baseUrl).port);
    await expect(startEmulator({ port })).rejects.toThrow(`port ${port} on 127.0.0.1 is in use`);
    await alive();
  });

  test("of another machine is an error that says so", async () => {
    await expect(startEmulator({ host: "192.0.2.1" })).rejects.toThrow("192.0.2.1 is not an address of this machine");
  });

  test.each<[string, unknown]>([
    ["port", { port: 65_536 }],
    ["port", { port: "80" }],
    ["host", { host: "" }],
    ["headersTimeoutMs", { headersTimeoutMs: 0 }],
    ["allowedHosts must be an array of host names", { allowedHosts: ["emulator:80"] }],
    ["allowedHosts must be an array of host names", { allowedHosts: [["emulator"]] }],
    ["unknown key", { ports: 1 }],
    ["projects", { projects: -1 }],
  ])("wrong options are a TypeError: %s", async (message, options) => {
    const starting = startEmulator(options as StartOptions); // what a caller without types may pass
    await expect(starting).rejects.toBeInstanceOf(TypeError);
    await expect(starting).rejects.toThrow(message);
  });
});

test("projects that contradict each other are a TypeError, and the port is free again", async () => {
  const port = Number(new URL(running.baseUrl).port);
  await running.close();
  const starting = startEmulator({ port, projects: [{ id: "a" }, { id: "a" }] });
  await expect(starting).rejects.toThrow(TypeError);
  await restart({ port });
  await alive();
});

describe("a request target", () => {
  test.each([
    ["/projects/a%2Fb/sessions", 200],
    ["/projects/../sessions", 200],
    ["/projects/%2e%2E/sessions", 200],
    ["/projects/a/b/sessions", 404],
    ["/projects/a%252Fb/sessions", 404],
    ["/../v1/projects", 404],
    ["/projects#fragment", 200],
    ["//projects", 404],
  ])("%s is taken as it was sent: %i", async (target, status) => {
    await restart({ projects: [{ name: "a/b" }, { name: ".." }] });
    const response = await answerTo(request(`GET /api/v1${target}`, "connection: close"));
    expect(response.status).toBe(status);
    expect(running.emulator.requests.at(-1)?.url).toBe(`/api/v1${target}`);
  });

  test("may be absolute", async () => {
    const response = await answerTo(request(`GET ${running.baseUrl}/projects?limit=1`, "connection: close"));
    expect(response.status).toBe(200);
    expect(running.emulator.requests.at(-1)).toMatchObject({ path: "/projects", query: { limit: "1" } });
  });

  test("of an asterisk is nothing", async () => {
    expect((await answerTo(request("OPTIONS *", "connection: close"))).status).toBe(404);
  });
});

const preflight = { origin: "https://app.example", "access-control-request-method": "POST" };

describe("a browser", () => {
  test.each(["/projects", "/nope"])("may ask for %s from anywhere, without a token", async (path) => {
    const response = await fetch(running.baseUrl + path, { method: "OPTIONS", headers: preflight });
    expect(response.status).toBe(204);
    const header = (name: string): string | null => response.headers.get(`access-control-allow-${name}`);
    expect(header("origin")).toBe("*");
    expect(header("headers")).toBe("authorization, content-type");
    expect(header("methods")).toBe("GET, POST, DELETE, PUT, PATCH");
    expect(running.emulator.requests).toEqual([]);
  });

  test("sees the headers of the rate limit, also of an error response", async () => {
    const response = await fetch(`${running.baseUrl}/projects`, { headers: { origin: "https://app.example" } });
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([401, "*"]);
    const exposed = response.headers.get("access-control-expose-headers")?.split(", ");
    expect(exposed).toEqual(["Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "x-request-id"]);
  });

  test("does not see a response whose fault takes that away", async () => {
    running.emulator.fault({ status: 429, headers: { "access-control-allow-origin": null } });
    const response = await fetch(`${running.baseUrl}/projects`);
    expect([response.status, response.headers.has("access-control-allow-origin")]).toEqual([429, false]);
  });

  test("that sends OPTIONS without a preflight gets a 405", async () => {
    const headers = { authorization: `Bearer ${running.token}` };
    expect((await fetch(`${running.baseUrl}/projects`, { method: "OPTIONS", headers })).status).toBe(405);
  });
});

describe("a page of another site", () => {
  const get = async (host: string): Promise<ReturnType<typeof parseResponse>> =>
    answerTo(`GET /api/v1/projects HTTP/1.1\r\nhost: ${host}\r\n${authorization()}\r\nconnection: close\r\n\r\n`);

  test.each([
    "attacker.example",
    "attacker.example:80",
    "localhost.attacker.example",
    "127.0.0.1.attacker.example",
    "10.0.0.1",
    "",
    "[::2]",
  ])("cannot reach the server by the name %j", async (host) => {
    const { status, body } = await get(host);
    expect([status, body]).toMatchObject([421, { error: "misdirected_request" }]);
    expect(running.emulator.requests).toEqual([]);
  });

  test.each(["localhost", "LOCALHOST:4010", "app.localhost", "127.0.0.1:1", "127.1.2.3", "[::1]:4010"])(
    "is not refused by the loopback name %s",
    async (host) => {
      expect((await get(host)).status).toBe(200);
    },
  );

  test("may use a name that an option allows", async () => {
    await restart({ allowedHosts: ["Emulator"] });
    expect([(await get("emulator:80")).status, (await get("other.example")).status]).toEqual([200, 421]);
  });

  test("may use the host name of the server's address", async () => {
    const { origin, port } = new URL(running.baseUrl);
    await restart({ port: Number(port), baseUrl: "http://gateway.example:8080/api/v1" });
    const raw = await openSocket(origin);
    raw.write("GET /api/v1/projects HTTP/1.1\r\nhost: Gateway.example\r\nconnection: close\r\n\r\n");
    expect(parseResponse(await raw.ended).status).toBe(401);
  });

  test.each([false, true])("may come from a public site into this network if that is allowed: %s", async (allowed) => {
    await restart({ allowPrivateNetwork: allowed });
    const asked = { ...preflight, "access-control-request-private-network": "true" };
    const response = await fetch(`${running.baseUrl}/projects`, { method: "OPTIONS", headers: asked });
    const granted = response.headers.get("access-control-allow-private-network");
    expect([response.status, granted]).toEqual([204, allowed ? "true" : null]);
  });
});

describe("connections", () => {
  test("are kept for the next request", async () => {
    const raw = await open();
    for (let count = 1; count <= 3; count += 1) {
      raw.write(request("GET /api/v1/sessions/nope"));
      await raw.received(new RegExp(`(HTTP/1.1 404 [\\s\\S]*?"error"[\\s\\S]*?){${count}}`));
    }
    raw.socket.end();
    expect(running.emulator.requests).toHaveLength(3);
  });

  test("responds to pipelined requests in their order", async () => {
    const raw = await open();
    running.emulator.fault({ operation: "projects.list", delayMs: 20 });
    raw.write(request("GET /api/v1/projects?limit=1") + request("GET /api/v1/sessions/nope", "connection: close"));
    const text = await raw.ended;
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 404"]);
  });

  test("end with close(), also those with a request under way; twice is once", async () => {
    running.emulator.fault({ delayMs: Infinity });
    const [busy, idle] = [await open(), await open()];
    busy.write(request("GET /api/v1/projects"));
    await expect.poll(() => running.emulator.requests.length).toBe(1);
    expect(running.close()).toBe(running.close());
    await running.close();
    expect([await busy.ended, await idle.ended]).toEqual(["", ""]);
    await expect.poll(() => running.emulator.requests[0]?.outcome).toBe("aborted");
    await expect(fetch(running.baseUrl)).rejects.toThrow("fetch failed");
  });

  test("end with `await using`", async () => {
    let baseUrl = "";
    {
      await using scoped = await startEmulator();
      ({ baseUrl } = scoped);
      expect((await fetch(baseUrl)).status).toBe(401);
    }
    await expect(fetch(baseUrl)).rejects.toThrow("fetch failed");
  });
});

test("each start is another world, with the same source too: it refuses the token and cursor of the other", async () => {
  const random = (): number => 0.5;
  await using one = await startEmulator({ random });
  await using two = await startEmulator({ random });
  const ask = ({ baseUrl }: RunningEmulator, { token }: RunningEmulator, query = ""): Promise<Response> =>
    fetch(`${baseUrl}/projects${query}`, { headers: { authorization: `Bearer ${token}` } });
  const { next_cursor } = (await (await ask(one, one, "?limit=1")).json()) as { next_cursor: string };
  const query = `?cursor=${encodeURIComponent(next_cursor)}`;
  expect(two.emulator.projects.list()).toEqual(one.emulator.projects.list());
  expect(two.token.slice(0, 12)).not.toBe(one.token.slice(0, 12));
  const answers = [ask(one, one, query), ask(two, one), ask(one, two), ask(two, two), ask(two, two, query)];
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 401, 401, 200, 400]);
});

describe("malformed and hostile input", () => {
  afterEach(alive);

  test.each([
    ["no HTTP", "\u0016\u0003\u0001\u0002 hello\r\n\r\n"],
    ["half a request line", "GET\r\n\r\n"],
    ["an unknown method", "BREW /api/v1/projects HTTP/1.1\r\nhost: localhost\r\n\r\n"],
    ["another version", "GET / HTTP/9.9\r\n\r\n"],
    ["a space in the target", "GET /a b HTTP/1.1\r\n\r\n"],
    ["a header without a name", "GET / HTTP/1.1\r\n: x\r\n\r\n"],
    ["a control character in a header", "GET / HTTP/1.1\r\nx: a\u0000b\r\n\r\n"],
    ["a length that is none", "POST / HTTP/1.1\r\ncontent-length: -5\r\n\r\n"],
    ["two lengths", "POST / HTTP/1.1\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n"],
    ["a length and chunks", "POST / HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n"],
    ["chunks that are none", "POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"],
  ])("%s: 400 as JSON, with the headers of every response, and the end", async (_, bytes) => {
    const { status, headers, body } = await answerTo(bytes);
    expect([status, body]).toMatchObject([400, { error: "bad_request" }]);
    expect(headers.get("connection")).toBe("close");
    expect(headers.get("content-type")).toContain("application/json");
    expect(Number(headers.get("ratelimit-limit"))).toBeGreaterThan(0);
    expect(headers.has("ratelimit-remaining")).toBe(true);
  });

  test.each([
    ["no Host header", "connection: close"],
    ["an expectation of its own", "host: localhost\r\nexpect: 200-ok\r\nconnection: close"],
  ])("%s: a response as any other", async (_, head) => {
    const { status, headers, body } = await answerTo(`GET /api/v1/projects HTTP/1.1\r\n${head}\r\n\r\n`);
    expect([status, body]).toMatchObject([401, { error: "unauthorized" }]);
    expect(headers.has("ratelimit-remaining")).toBe(true);
  });

  test("a clock that fails: the connection ends, and the server goes on", async () => {
    let fails = false;
    const now = (): number => (fails ? Number.NaN : Date.now());
    await restart({ now });
    fails = true;
    for (const bytes of ["no HTTP\r\n\r\n", request("GET /api/v1/projects")]) {
      const raw = await open();
      raw.write(bytes);
      expect(await raw.ended).toBe("");
    }
    fails = false;
  });

  test("headers of 100 KB: 431", async () => {
    const { status, body } = await answerTo(request("GET /api/v1/projects", `x: ${"a".repeat(100_000)}`));
    expect([status, body]).toMatchObject([431, { error: "headers_too_large" }]);
  });

  test("a header beyond ASCII, and one called __proto__, are headers", async () => {
    const response = await answerTo(
      request("GET /api/v1/projects", "x-thing: \u00e9", "__proto__: x", "connection: close"),
    );
    expect(response.status).toBe(200);
    expect(Object.hasOwn(running.emulator.requests[0]?.headers ?? {}, "__proto__")).toBe(true);
  });

  test("a body of 10 MB: 413, and the end", async () => {
    await restart({});
    const size = 10_000_000;
    const head = request("POST /api/v1/projects/web/issues", `content-length: ${size}`);
    const { status, headers, body } = await answerTo(head, new Uint8Array(size));
    expect([status, body]).toMatchObject([413, { error: "payload_too_large" }]);
    expect(headers.get("connection")).toBe("close");
    expect(running.emulator.issues.list("web")).toEqual([]);
  });

  test("a body without an end: the connection ends, and memory with it", async () => {
    await restart({});
    const raw = await open();
    raw.write(request("POST /api/v1/projects/web/issues", "transfer-encoding: chunked"));
    const chunk = `100000\r\n${"x".repeat(0x100000)}\r\n`;
    let sent = 0;
    while (!raw.socket.destroyed && sent < 200) {
      sent += 1;
      await new Promise<void>((resolve) => {
        raw.socket.once("close", resolve);
        raw.socket.write(chunk, () => resolve());
      });
      raw.socket.removeAllListeners("close");
    }
    expect(sent).toBeLessThan(60);
  });

  test("malformed JSON and keys that reach for a prototype: an error, and nothing changed", async () => {
    const bodies = ['{"title":', "[".repeat(100_000), '{"__proto__":{"title":"x","type":"bug"}}', "\u00ff\u00fe"];
    for (const body of bodies) {
      const bytes = Buffer.from(body, "latin1");
      const length = `content-length: ${bytes.length}`;
      const response = await answerTo(request("POST /api/v1/projects/web/issues", length, "connection: close"), bytes);
      expect([400, 422]).toContain(response.status);
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(running.emulator.issues.list("web")).toEqual([]);
  });

  test.each([
    ["request line", "GET /api/v1/proj"],
    ["headers", "GET /api/v1/projects HTTP/1.1\r\nhost: localhost\r\nx-slow: "],
    ["body", "POST /api/v1/projects HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{"],
  ])("a client that never ends its %s: 408, in bounded time", async (_, bytes) => {
    await restart(IMPATIENT);
    const { status, body } = await answerTo(bytes);
    expect([status, body]).toMatchObject([408, { error: "request_timeout" }]);
    expect(running.emulator.requests).toEqual([]);
  });

  test("a client that trickles its headers: no more time than one that is silent", async () => {
    await restart(IMPATIENT);
    const raw = await open();
    const trickle = setInterval(() => raw.socket.writable && raw.write("x: y\r\n"), 10);
    raw.write("GET /api/v1/projects HTTP/1.1\r\n");
    expect(parseResponse(await raw.ended).status).toBe(408);
    clearInterval(trickle);
  });

  test("clients that leave at any point: nothing happens", async () => {
    running.emulator.fault({ times: Infinity, delayMs: 5 });
    const head = request("POST /api/v1/projects/web/issues", "content-length: 26");
    const bytes = `${head}{"title":"x","type":"bug"}`;
    for (let cut = 0; cut <= bytes.length; cut += 40) {
      const raw = await open();
      raw.write(bytes.slice(0, cut));
      raw.socket.resetAndDestroy();
      await raw.ended;
    }
    running.emulator.reset();
  });

  test("1 000 connections at once: each gets one response", async () => {
    // A busy machine may need many seconds for all of them.
    await restart({ rateLimit: { limit: 700 }, headersTimeoutMs: TEST_LIMIT_MS, requestTimeoutMs: TEST_LIMIT_MS });
    const body = '{"title":"x","type":"bug"}';
    const head = request("POST /api/v1/projects/web/issues", `content-length: ${body.length}`, "connection: close");
    const raws = await Promise.all(Array.from({ length: 1_000 }, open));
    const statuses = await Promise.all(
      raws.map(async (raw) => {
        raw.write(head + body);
        return parseResponse(await raw.ended).status;
      }),
    );
    running.emulator.setRateLimit(false);
    expect(statuses.filter((status) => status === 201)).toHaveLength(700);
    expect(statuses.filter((status) => status === 429)).toHaveLength(300);
    const numbers = running.emulator.issues.list("web").map(({ number }) => number);
    expect(numbers).toEqual(Array.from({ length: 700 }, (_, index) => index + 1));
  });
});
