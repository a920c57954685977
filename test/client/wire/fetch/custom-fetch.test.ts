/** A `fetch` of the application's: other packages' functions, and wrappers around the platform's. */
import nodeFetch from "node-fetch";
import { fetch as undiciFetch } from "undici";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  Client,
  type ClientOptions,
  type FetchFunction,
  type FetchInit,
  VERSION,
} from "../../../../src/client/index.ts";
import { DEFAULT_RETRY } from "../../../../src/core/call/settings.ts";
import { type HttpServer, send, serve } from "../../../support/http-server.ts";
import { rejection } from "../../../support/promises.ts";

const TOKEN = "pat_key_aSecretOfTheTests";
const ISSUE = { number: 1, title: "One", status: "open" };
const input = { title: "One", type: "bug" };

afterEach(() => {
  vi.unstubAllGlobals();
});

const clientOf = ({ origin }: Pick<HttpServer, "origin">, options: ClientOptions): Client =>
  new Client({ baseUrl: `${origin}/api/v1`, token: TOKEN, retry: { minDelayMs: 0 }, ...options });

const good = (): Promise<HttpServer> =>
  serve((response, { method }) => send(response, method === "POST" ? 201 : 200, ISSUE));

describe("what it is called with", () => {
  test("a string and an init that holds everything as plain values", async () => {
    const server = await good();
    const calls: [unknown, FetchInit][] = [];
    const fetch: FetchFunction = (url, init) => {
      calls.push([url, init]);
      return globalThis.fetch(url, init);
    };
    const client = clientOf(server, { fetch, headers: { "X-Team": "ops" }, fetchOptions: { keepalive: true } });
    await client.issues.create("a/b", { title: "Ünï", type: "bug" });
    const [[url, init] = []] = calls;
    expect(url).toBe(`${server.origin}/api/v1/projects/a%2Fb/issues`);
    expect(init).toEqual({
      method: "POST",
      headers: {
        accept: "application/json",
        "accept-encoding": "identity",
        authorization: `Bearer ${TOKEN}`,
        "content-type": "application/json",
        "user-agent": `project-automation/${VERSION}`,
        "x-team": "ops",
      },
      body: '{"title":"Ünï","type":"bug"}',
      signal: expect.any(AbortSignal),
      redirect: "manual",
      keepalive: true,
      ...("credentials" in Request.prototype ? { credentials: "omit" } : {}),
    });
    expect(Object.getPrototypeOf(init?.headers)).toBe(Object.prototype);
    expect(server.seen).toMatchObject([{ body: '{"title":"Ünï","type":"bug"}' }]);
  });

  describe("by platform", () => {
    const seenAs = async (userAgent: string | undefined, options: ClientOptions = {}): Promise<FetchInit> => {
      vi.stubGlobal("navigator", userAgent === undefined ? undefined : { userAgent });
      let seen: FetchInit | undefined;
      const fetch: FetchFunction = async (_, init) => {
        seen = init;
        return Response.json({ id: "1", state: "on" });
      };
      await clientOf({ origin: "https://service.example.com" }, { fetch, ...options }).sessions.get("1");
      return seen ?? expect.fail("nothing was sent");
    };

    test.each(["Node.js/24", "Deno/2.9.0", "Bun/1.4.0", "Cloudflare-Workers", undefined])(
      "%s: no browser",
      async (name) => {
        const init = await seenAs(name);
        expect(init.headers["user-agent"]).toBe(`project-automation/${VERSION}`);
        expect(init).not.toHaveProperty("cache");
      },
    );

    test("headers may replace the user-agent: those of the client, or of a call", async () => {
      const init = await seenAs("Node.js/24", { headers: { "User-Agent": "release-bot/2" } });
      expect(init.headers["user-agent"]).toBe("release-bot/2");
      const seen: string[] = [];
      const fetch: FetchFunction = async (_, { headers }) => {
        seen.push(headers["user-agent"] ?? "");
        return Response.json({ id: "1", state: "on" });
      };
      const client = clientOf({ origin: "https://service.example.com" }, { fetch });
      await client.sessions.get("1", { headers: { "user-agent": "one-call/1" } });
      expect(seen).toEqual(["one-call/1"]);
    });

    test.each([
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36",
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:150.0) Gecko/20100101 Firefox/150.0",
    ])("%s: a browser's cache is not asked, and its user-agent stays", async (name) => {
      const init = await seenAs(name);
      expect(init.cache).toBe("no-store");
      expect(init.headers).not.toHaveProperty("user-agent");
    });
  });

  test("a request without a body has none in its init, and init belongs to that one request", async () => {
    const server = await serve((response, { target }) =>
      send(response, target.endsWith("1") ? 503 : 200, { id: "1", state: "on" }),
    );
    const inits: FetchInit[] = [];
    const fetch: FetchFunction = (url, init) => {
      inits.push(init);
      init.headers["x-mark"] = String(inits.length);
      return globalThis.fetch(url, init);
    };
    await rejection(clientOf(server, { fetch }).sessions.get("1"));
    expect(inits).toHaveLength(DEFAULT_RETRY.attempts);
    expect(inits.every((init) => !("body" in init))).toBe(true);
    expect(new Set(inits.map(({ headers }) => headers)).size).toBe(inits.length);
    expect(server.seen.map(({ headers }) => Object.fromEntries(headers)["x-mark"])).toEqual(
      inits.map((_, index) => String(index + 1)),
    );
  });
});

describe("as applications write it", () => {
  const written: Record<string, FetchFunction> = {
    "spreads init and adds a header": (url, init) =>
      globalThis.fetch(url, { ...init, headers: { ...init.headers, "x-added": "yes" } }),
    "is undici's": (url, init) => undiciFetch(url, { ...init, headers: { ...init.headers, "x-added": "yes" } }),
    "is node-fetch": (url, init) => nodeFetch(url, { ...init, headers: { ...init.headers, "x-added": "yes" } }),
  };

  test.each(Object.entries(written))("a function that %s", async (_, fetch) => {
    const server = await serve((response, { method, target }) => {
      if (target.includes("missing"))
        return send(response, 404, { error: "no_such_session", message: "There is none" });
      send(
        response,
        method === "POST" ? 201 : 200,
        method === "POST" ? ISSUE : { data: [{ id: "p", name: "p" }], next_cursor: null },
      );
    });
    const client = clientOf(server, { fetch });
    expect(await client.issues.create("web", input)).toMatchObject(ISSUE);
    expect(await client.projects.list().toArray()).toHaveLength(1);
    expect(await rejection(client.sessions.get("missing"))).toMatchObject({
      kind: "not_found",
      code: "no_such_session",
      detail: "There is none",
    });
    for (const { headers } of server.seen) expect(Object.fromEntries(headers)).toMatchObject({ "x-added": "yes" });
    expect(server.seen[0]).toMatchObject({ method: "POST", body: JSON.stringify(input) });
  });
});

describe.each<[string, FetchFunction]>([
  ["undici", undiciFetch],
  ["node-fetch", nodeFetch],
])("the fetch of %s, passed as it is", (_, fetch) => {
  test("is aborted with the call, also while the body is read", async () => {
    let gone: Promise<unknown> | undefined;
    const server = await serve((response) => {
      gone = new Promise((resolve) => response.on("close", resolve));
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"id":');
    });
    const controller = new AbortController();
    const client = clientOf(server, { fetch });
    const call = rejection(client.sessions.get("1", { signal: controller.signal }));
    await expect.poll(() => gone !== undefined).toBe(true);
    controller.abort("enough");
    expect(await call).toMatchObject({ kind: "abort", cause: "enough" });
    await gone;
  });

  test("the connection of a refusal that never ends is freed when the call ends", async () => {
    let gone: Promise<unknown> | undefined;
    const server = await serve((response) => {
      gone = new Promise((resolve) => response.on("close", resolve));
      response.writeHead(429, { "content-type": "application/json" });
      response.write('{"error":');
    });
    const error = await rejection(clientOf(server, { fetch, retry: false }).sessions.get("1"));
    expect(error).toMatchObject({ kind: "rate_limit" });
    await gone;
  });
});

test("a function that reads a copy of a refusal can read it to its end, also when the call is over", async () => {
  let finish = (): void => expect.fail("the request has come");
  const server = await serve((response) => {
    response.writeHead(429).write('{"error":');
    finish = () => void response.end('"late"}');
  });
  let copy: Promise<string> | undefined;
  const copying: FetchFunction = async (url, init) => {
    const response = await globalThis.fetch(url, init);
    copy = response.clone().text();
    return response;
  };
  const error = await rejection(clientOf(server, { fetch: copying, retry: false }).sessions.get("1"));
  expect(error).toMatchObject({ kind: "rate_limit" });
  finish();
  expect(await copy).toBe('{"error":"late"}');
});
