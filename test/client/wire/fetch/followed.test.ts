/** A response is believed only as the response to its own request: a `fetch` may have followed a redirect. */
import { describe, expect, test, vi } from "vitest";
import { Client, type ClientOptions, path, RedirectError } from "../../../../src/client/index.ts";
import { type HttpServer, send, serve } from "../../../support/http-server.ts";
import { rejection } from "../../../support/promises.ts";
import { json } from "../../../support/replies.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";

const ISSUE = { number: 1, title: "One", status: "open" };
const create = (client: Client): Promise<unknown> => client.issues.create("web", { title: "One", type: "bug" });

/** What people write around `fetch`, and lose `redirect: "manual"` with. */
const follows: ClientOptions["fetch"] = (url, init) => fetch(url, { ...init, redirect: "follow" });

/** The response where a redirect leads. */
interface Moved {
  readonly status?: number;
  readonly body?: unknown;
  /** On the origin of the service. */
  readonly isOwn?: boolean;
}

/** A service that redirects, and where it leads: every request there gets `status` and `body`. */
async function redirecting(code: number, { status = 200, body = ISSUE, isOwn = false }: Moved = {}) {
  const asked: string[] = [];
  const answer: Parameters<typeof serve>[0] = (response, { target }) => {
    if (target.startsWith("/moved")) return send(response, status, body);
    asked.push(target);
    response.writeHead(code, { location: `${(isOwn ? service : elsewhere).origin}/moved?token=secret#part` });
    response.end();
  };
  const elsewhere = await serve(answer);
  const service: HttpServer = await serve(answer);
  const client = (options: ClientOptions = {}): Client =>
    new Client({ baseUrl: `${service.origin}/api/v1`, token: "pat_key_secret", fetch: follows, ...options });
  return { client, asked, location: `${(isOwn ? service : elsewhere).origin}/moved` };
}

describe.each([301, 302, 303, 307, 308])("a %i that a fetch has followed", (code) => {
  test.each([true, false])(
    "is a RedirectError, and a write may have been applied; on the same origin: %s",
    async (isOwn) => {
      const { client, asked, location } = await redirecting(code, { isOwn });
      const error = (await rejection(create(client()))) as RedirectError;
      expect(error).toBeInstanceOf(RedirectError);
      expect(error).toMatchObject({ outcome: "unknown", location, attempts: 1 });
      expect(error).not.toHaveProperty("status");
      expect(error).not.toHaveProperty("body");
      expect(error.message).toContain(`fetch has followed a redirect to ${location}; `);
      expect(error.message).toContain("if another address is meant, return new Response(response.body, response)");
      expect(error.message).toContain("it may have been applied");
      expect(error.message).not.toContain("secret");
      expect(asked).toHaveLength(1);
    },
  );
});

test.each([429, 503, 401, 500])("its %i pauses nothing, is not retried, and renews no token", async (status) => {
  const { client, asked } = await redirecting(302, { status, body: { error: "no" } });
  const rejected: unknown[] = [];
  const own = client({
    retry: { minDelayMs: 0 },
    token: (context) => {
      rejected.push(context.rejected);
      return "pat_key_secret";
    },
  });
  expect(await rejection(own.sessions.get("s"))).toMatchObject({ kind: "redirect", attempts: 1 });
  expect([asked.length, rejected, own.rateLimit?.pausedUntil]).toEqual([1, [undefined], undefined]);
});

test("a DELETE has not succeeded", async () => {
  const { client } = await redirecting(302, { body: undefined, status: 204 });
  expect(await rejection(client().tokens.revoke("t"))).toMatchObject({ kind: "redirect", outcome: "unknown" });
});

/** A response as platforms make it: with the address that it is from. */
const from = (url: unknown, more: object = {}): Response =>
  Object.defineProperties(json(ISSUE, 201), {
    url: { value: url },
    ...Object.fromEntries(Object.entries(more).map(([name, value]) => [name, { value }])),
  });

describe("the address of a response", () => {
  test.each([
    ["another host", "https://login.example/sign-in?next=secret", "https://login.example/sign-in"],
    ["another port", "https://automation.example.com:8443/api/v1/x", "https://automation.example.com:8443/api/v1/x"],
    ["another scheme", "http://automation.example.com/api/v1/x", "http://automation.example.com/api/v1/x"],
    ["a user", "https://user:secret@login.example/", "https://login.example/"],
  ])("of %s is no response of the service", async (_, url, location) => {
    const error = await rejection(create(scriptedFetch(() => from(url)).client()));
    expect(error).toMatchObject({ kind: "redirect", outcome: "unknown", location });
    expect(String(error)).not.toContain("secret");
  });

  test("of another host has a body that is cancelled, which frees its connection", async () => {
    const cancel = vi.fn();
    const body = new ReadableStream({ cancel });
    const response = Object.defineProperty(new Response(body, { status: 201 }), "url", {
      value: "https://login.example/",
    });
    expect(await rejection(create(scriptedFetch(() => response).client()))).toMatchObject({ kind: "redirect" });
    await expect.poll(() => cancel.mock.calls.length).toBe(1);
  });

  test("that was redirected to, and is not told", async () => {
    for (const url of [undefined, "", "not a URL"]) {
      const error = await rejection(create(scriptedFetch(() => from(url, { redirected: true })).client()));
      expect(error).toMatchObject({ kind: "redirect", outcome: "unknown" });
      expect(error).not.toHaveProperty("location");
    }
  });
});

test("a fetch that asks another address on purpose returns a response without its address", async () => {
  const { origin } = await serve((response) => send(response, 201, ISSUE));
  const elsewhere = (address: string): string => address.replace(/^https:\/\/[^/]+/, origin);
  const options = { baseUrl: "https://service.example/api/v1", token: "pat_key_secret" };
  const passedOn = new Client({ ...options, fetch: (url, init) => fetch(elsewhere(url), init) });
  expect(await rejection(create(passedOn))).toMatchObject({ kind: "redirect", outcome: "unknown" });
  const madeAnew = new Client({
    ...options,
    fetch: async (url, init) => {
      const response = await fetch(elsewhere(url), init);
      return new Response(response.body, response);
    },
  });
  expect(await create(madeAnew)).toEqual(ISSUE);
  expect(await madeAnew.request({ method: "POST", path: path`/x` })).toEqual(ISSUE);
});
