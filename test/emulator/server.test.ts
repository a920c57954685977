import { networkInterfaces } from "node:os";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunningEmulator, StartOptions } from "../../src/testing/node.ts";
import { startEmulator } from "../../src/testing/node.ts";
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
      return expect(String(error)).toContain("EADDRNOTAVAIL");
    }
    expect(running.baseUrl).toMatch(/^http:\/\/\[::1\]:\d+\/api\/v1$/);
    await alive();
  });

  test("that is taken is an error that says so", async () => {
    const port = Number(new URL(running.baseUrl).port);
    await expect(startEmulator({ port })).rejects.toThrow(
      `cannot listen on port ${port} of 127.0.0.1: listen EADDRINUSE`,
    );
    await alive();
  });

  test.each<[string, unknown]>([
    ["port", { port: 65_536 }],
    ["port", { port: "80" }],
    ["host", { host: "" }],
    ["keepAliveTimeoutMs", { keepAliveTimeoutMs: 0 }],
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
});

describe("connections", () => {
  test("end by a limit, if half a head of a request has come", async () => {
    const half = await open();
    half.write("GET /api/v1/projects HTTP/1.1\r\nhost: loc");
    expect(await half.ended).toMatch(/^HTTP\/1\.1 408 /);
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
