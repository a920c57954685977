/** A `fetch` of the application's that resolves with less than a Response, or fails in ways of its own. */
import { fetch as undiciFetch } from "undici";
import { describe, expect, test } from "vitest";
import { Client, type ClientOptions, type FetchFunction } from "../../src/index.ts";
import { rejection } from "../support/promises.ts";

const ISSUE = { number: 1, title: "One", status: "open" };
const input = { title: "One", type: "bug" };

const clientOf = ({ origin }: { readonly origin: string }, options: ClientOptions): Client =>
  new Client({ baseUrl: `${origin}/api/v1`, token: "t", retry: { minDelayMs: 0 }, ...options });

describe("a substitute that is less than a Response", () => {
  /** As a mock: no web stream, no `ok`, no `type`. */
  const mock =
    (status: number, body: string, headers: Record<string, string> = {}): FetchFunction =>
    async () => ({ status, headers: new Map(Object.entries(headers)) as never, text: async () => body });
  const service = { origin: "https://service.example.com" };

  test("a success is read by text()", async () => {
    const client = clientOf(service, { fetch: mock(201, JSON.stringify(ISSUE)) });
    expect(await client.issues.create("web", input)).toEqual(ISSUE);
  });

  test("a missing ok is derived from the status", async () => {
    const client = clientOf(service, { fetch: mock(422, '{"error":"invalid_request","message":"title is required"}') });
    expect(await rejection(client.issues.create("web", input))).toMatchObject({
      kind: "bad_request",
      status: 422,
      code: "invalid_request",
      detail: "title is required",
      outcome: "rejected",
    });
  });

  test("an ok that contradicts the status does not count", async () => {
    const fetch: FetchFunction = async () => Object.assign(await mock(500, "{}")("", {} as never), { ok: true });
    expect(await rejection(clientOf(service, { fetch, retry: false }).sessions.get("1"))).toMatchObject({
      kind: "server",
    });
  });

  test("a DELETE resolves whatever its body, and an unreadable one does not matter", async () => {
    const fetch: FetchFunction = async () => ({
      status: 204,
      headers: new Headers(),
      text: () => Promise.reject(new Error("no body")),
    });
    expect(await clientOf(service, { fetch }).tokens.revoke("tok_1")).toBeUndefined();
  });

  test("a refusal larger than 64 KiB has no body, in bytes and not in characters", async () => {
    const long = JSON.stringify({ error: "long", message: "é".repeat(40_000) });
    const error = await rejection(clientOf(service, { fetch: mock(400, long) }).sessions.get("1"));
    expect(error).toMatchObject({ kind: "bad_request" });
    expect(error).not.toHaveProperty("body");
  });

  test("a text() that never settles ends with the attempt", async () => {
    const fetch: FetchFunction = async () => ({
      status: 200,
      headers: new Headers(),
      text: () => new Promise(() => {}),
    });
    const error = await rejection(clientOf(service, { fetch, timeoutMs: 20, retry: false }).sessions.get("1"));
    expect(error).toMatchObject({ kind: "timeout", phase: "body" });
  });

  test("an object that has no text(): the status says that the write was accepted, its body is lost", async () => {
    const fetch = (async () => ({ ok: true, status: 200, headers: new Headers(), json: async () => ISSUE })) as never;
    const error = await rejection(clientOf(service, { fetch }).issues.create("web", input));
    expect(error).toMatchObject({ kind: "connection", attempts: 1, status: 200, outcome: "accepted" });
  });
});

/** A wrapper's own class of error. */
class HttpFailed extends Error {}

describe("a fetch that fails", () => {
  const service = { origin: "https://service.example.com" };
  const read = (fetch: FetchFunction): Promise<unknown> => rejection(clientOf(service, { fetch }).sessions.get("1"));
  const write = (fetch: FetchFunction): Promise<unknown> =>
    rejection(clientOf(service, { fetch }).issues.create("web", input));
  const reset = (): Error => Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });

  test.each<[string, () => unknown]>([
    [
      "an Error around the platform's",
      () => new Error("GET /sessions failed", { cause: new TypeError("fetch failed") }),
    ],
    ["a class of its own around it", () => new HttpFailed("no", { cause: reset() })],
    ["two layers around it", () => new Error("outer", { cause: new Error("inner", { cause: reset() }) })],
    ["a browser's error in a cause", () => new Error("no", { cause: new TypeError("Failed to fetch") })],
    ["the time limit of its own", () => new DOMException("The operation was aborted due to timeout", "TimeoutError")],
  ])("with %s: a read is retried, a write is not", async (_, thrown) => {
    expect(await read(() => Promise.reject(thrown()))).toMatchObject({ kind: "connection", attempts: 3 });
    expect(await write(() => Promise.reject(thrown()))).toMatchObject({
      kind: "connection",
      attempts: 1,
      outcome: "unknown",
    });
  });

  test("with a refused connection in a cause: a write is retried, too", async () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const error = await write(() => Promise.reject(new Error("wrapped", { cause: refused })));
    expect(error).toMatchObject({ kind: "connection", attempts: 3, outcome: "not_sent" });
  });

  test("with an error of the wrapper's own: nothing is retried, and nothing is certain", async () => {
    const error = await read(() => Promise.reject(new Error("the plugin crashed")));
    expect(error).toMatchObject({ kind: "connection", attempts: 1, outcome: "unknown" });
  });

  test("synchronously: the same as a rejection", async () => {
    const fetch: FetchFunction = () => {
      throw new TypeError("fetch failed", { cause: reset() });
    };
    expect(await read(fetch)).toMatchObject({ kind: "connection", attempts: 3, platformCode: "ECONNRESET" });
  });

  test.each<[string, FetchFunction | undefined]>([
    ["the platform", undefined],
    ["undici", undiciFetch],
  ])("%s refuses the URL: not sent, not retried", async (_, fetch) => {
    // Port 1 is one of those that fetch blocks.
    const client = clientOf({ origin: "https://service.example.com:1" }, { fetch });
    expect(await rejection(client.issues.create("web", input))).toMatchObject({
      kind: "connection",
      attempts: 1,
      outcome: "not_sent",
    });
  });

  test("a wrapper that breaks the URL: not sent, not retried", async () => {
    const client = clientOf(service, { fetch: (_, init) => globalThis.fetch("//", init) });
    expect(await rejection(client.issues.create("web", input))).toMatchObject({ attempts: 1, outcome: "not_sent" });
  });
});
