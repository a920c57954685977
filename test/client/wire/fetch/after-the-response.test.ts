/** A `fetch` of the application's that fails at something of its own, when the service has responded. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { bulkWrite, memoryJournal } from "../../../../src/bulk/index.ts";
import { Client, type ClientOptions, type FetchFunction } from "../../../../src/client/index.ts";
import { type HttpServer, send, serve } from "../../../support/http-server.ts";
import { rejection } from "../../../support/promises.ts";
import { CLOSED_PORT } from "../../../support/raw-server.ts";

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
  ["a write to one that refuses", () => fetch(`http://127.0.0.1:${CLOSED_PORT}/`, { method: "PUT" }), /ECONNREFUSED/],
  ["a URL of the response that is none", () => new URL(""), /Invalid URL/],
];

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
    return await rejection(writing);
  };
  for (let time = 0; time < 2; time += 1) expect(await run()).toMatchObject({ kind: "bulk", summary: { unknown: 1 } });
  expect(server.seen.filter(({ method }) => method === "POST")).toHaveLength(1);
});
