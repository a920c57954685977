/**
 * A `fetch` of the application's that fails at something of its own, when the service has responded. "Never sent" is
 * believed of it only where the error names the host of the service; else a write would be sent twice.
 */
import nodeFetch from "node-fetch";
import { fetch as undiciFetch } from "undici";
import { afterEach, describe, expect, test, vi } from "vitest";
import { bulkWrite, memoryJournal } from "../../../../src/bulk/index.ts";
import { Client, type ClientOptions, type FetchFunction } from "../../../../src/client/index.ts";
import { DEFAULT_RETRY } from "../../../../src/core/call/settings.ts";
import { type HttpServer, send, serve } from "../../../support/http-server.ts";
import { rejection } from "../../../support/promises.ts";
import { CLOSED_PORT, rawServer } from "../../../support/raw-server.ts";

const input = { title: "One", type: "bug" };
const service = (): Promise<HttpServer> =>
  serve((response, { method }) =>
    send(response, method === "POST" ? 201 : 200, { number: 1, title: "One", status: "open", id: "1", state: "on" }),
  );
const clientOf = (origin: string, options: ClientOptions): Client =>
  new Client({ baseUrl: `${origin}/api/v1`, token: "t", retry: { minDelayMs: 0 }, ...options });

/** What goes wrong after the response, and what it says. */
const FAILURES: readonly [string, () => unknown, RegExp][] = [
  ["a metrics host that refuses", () => fetch(`http://127.0.0.1:${CLOSED_PORT}/`), /ECONNREFUSED/],
  ["a metrics host that has no address", () => fetch("http://metrics.invalid/"), /ENOTFOUND|EAI_AGAIN/],
  [
    "a cache that cannot be reached",
    () => {
      throw Object.assign(new Error("connect EHOSTUNREACH 10.0.0.9:6379"), {
        code: "EHOSTUNREACH",
        syscall: "connect",
        address: "10.0.0.9",
        port: 6379,
      });
    },
    /EHOSTUNREACH 10\.0\.0\.9:6379/,
  ],
  [
    "a log host whose certificate is not trusted",
    () => untrusted(),
    /self-signed certificate.* \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
  ],
  ["a URL of the response that is none", () => new URL(""), /Invalid URL/],
  ["a header that is none", () => new Headers([["a b", "c"]]), /invalid header name/],
  ["a port that is blocked", () => fetch("http://127.0.0.1:1/"), /bad port/],
  ["a proxy that refuses", () => raise(new Error("Proxy response (407) !== 200 when HTTP Tunneling")), /407/],
  ["a service of the same name elsewhere", () => raise(notFound("metrics.example.com")), /metrics/],
];

async function untrusted(): Promise<unknown> {
  await using server = await rawServer([], { tls: true });
  return await fetch(server.baseUrl);
}

function raise(error: unknown): never {
  throw error;
}

function notFound(hostname: string): Error {
  return Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: "ENOTFOUND", hostname });
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe.each(FAILURES)("%s", (_, fails, says) => {
  const platformFetch = globalThis.fetch;
  const failing: FetchFunction = async (url, init) => {
    const response = await platformFetch(url, init);
    await fails();
    return response;
  };

  test.each<[string, () => ClientOptions]>([
    ["in the fetch option", () => ({ fetch: failing })],
    [
      "in a global fetch that has replaced the platform's",
      () => {
        vi.stubGlobal("fetch", (url: string, init: never) =>
          url.includes("/api/v1/") ? failing(url, init) : platformFetch(url, init),
        );
        return {};
      },
    ],
  ])("%s: one create makes one issue, of unknown outcome, and the message says what failed", async (__, options) => {
    const server = await service();
    const client = clientOf(server.origin, options());
    const error = await rejection(client.issues.create("web", input));
    expect(server.seen).toHaveLength(1);
    expect(error).toMatchObject({ kind: "connection", outcome: "unknown", attempts: 1 });
    expect((error as Error).message).toMatch(says);
    expect((error as Error).message).toMatch(/it may have been applied: check before sending it again$/);
  });
});

test("a bulk run does not create the item again", async () => {
  const server = await service();
  const metrics = async (...sent: Parameters<FetchFunction>): Promise<Response> => {
    const response = await fetch(...sent);
    if (sent[1].method === "POST") await fetch(`http://127.0.0.1:${CLOSED_PORT}/`); // not at the read of the run
    return response;
  };
  const client = clientOf(server.origin, { fetch: metrics });
  const journal = memoryJournal();
  const run = async (): Promise<unknown> => {
    const send = (bound: Client): Promise<unknown> => bound.issues.create("web", input);
    const writing = bulkWrite({ client, items: ["a"], key: (item) => item, send, journal });
    for await (const _ of writing);
    return writing.summary;
  };
  expect(await run()).toMatchObject({ unknown: 1 });
  expect(await run()).toMatchObject({ unknown: 1 });
  expect(server.seen.filter(({ method }) => method === "POST")).toHaveLength(1);
});

describe("a fetch of another package is believed about the host of the service", () => {
  test.each<[string, FetchFunction]>([
    ["undici", undiciFetch],
    ["node-fetch", nodeFetch],
    ["a wrapper that keeps the platform's error as its cause", wrapping],
  ])("%s", async (_, fetch) => {
    for (const origin of [
      `http://127.0.0.1:${CLOSED_PORT}`,
      `http://localhost:${CLOSED_PORT}`,
      "https://nowhere.invalid",
    ]) {
      const error = await rejection(clientOf(origin, { fetch }).issues.create("web", input));
      expect(error).toMatchObject({ kind: "connection", outcome: "not_sent", attempts: DEFAULT_RETRY.attempts });
    }
  });
});

async function wrapping(...parameters: Parameters<FetchFunction>): Promise<Response> {
  try {
    return await fetch(...parameters);
  } catch (cause) {
    throw new Error("the request failed", { cause });
  }
}
