/** How a `fetch` of the caller's fails, or does not end: what is sent again, and what is known of what was sent. */
import { describe, expect, test } from "vitest";
import { Client } from "../../../../src/client/index.ts";
import { DEFAULT_RETRY } from "../../../../src/core/call/settings.ts";
import { ended, fakeTime } from "../../../support/fake-time.ts";
import { rejection } from "../../../support/promises.ts";
import { failsWith, type Reply, throws } from "../../../support/replies.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";

const create = (client: Client): Promise<unknown> => client.issues.create("web", { title: "One", type: "bug" });
const get = (client: Client): Promise<unknown> => client.sessions.get("1");

describe("an error", () => {
  fakeTime();

  /** A wrapper's own class of error. */
  class HttpFailed extends Error {}
  const reset = (): Error => Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  const failing = (error: () => unknown): Client => scriptedFetch(throws(error)).client();

  test.each<[string, () => unknown]>([
    [
      "an Error around the platform's",
      () => new Error("GET /sessions failed", { cause: new TypeError("fetch failed") }),
    ],
    ["a class of its own around it", () => new HttpFailed("no", { cause: reset() })],
    ["two layers around it", () => new Error("outer", { cause: new Error("inner", { cause: reset() }) })],
    ["a browser's error in a cause", () => new Error("no", { cause: new TypeError("Failed to fetch") })],
    ["the time limit of its own", () => new DOMException("The operation was aborted due to timeout", "TimeoutError")],
  ])("%s: a read is retried, a write is not", async (_, thrown) => {
    expect((await ended(get(failing(thrown)))).error).toMatchObject({
      kind: "connection",
      attempts: DEFAULT_RETRY.attempts,
    });
    expect((await ended(create(failing(thrown)))).error).toMatchObject({
      kind: "connection",
      attempts: 1,
      outcome: "unknown",
    });
  });

  // A function cannot say of itself that nothing was sent.
  test.each(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH"])(
    "%s in words alone: a POST may have been applied",
    async (code) => {
      const service = scriptedFetch(failsWith(code));
      const { error } = await ended(create(service.client()));
      expect(error).toMatchObject({ kind: "connection", outcome: "unknown", attempts: 1, platformCode: code });
    },
  );
});

test("a URL that fetch refuses is not retried, and nobody has seen that nothing was sent", async () => {
  // Port 1 is one of those that fetch blocks.
  const client = new Client({ baseUrl: "https://service.example.com:1/api/v1", token: "t" });
  expect(await rejection(create(client))).toMatchObject({ permanent: true, attempts: 1, outcome: "unknown" });
});

describe("a fetch that ignores its signal", () => {
  fakeTime();

  test("before it responds: the call still ends in time", async () => {
    const fetch = (): Promise<Response> => new Promise(() => undefined);
    const { error, tookMs } = await ended(get(scriptedFetch().client({ fetch, timeoutMs: 100, retry: false })));
    expect(error).toMatchObject({ kind: "timeout", phase: "headers" });
    expect(tookMs).toBeLessThanOrEqual(102);
  });

  test("within the body, too", async () => {
    const stuck: Reply = () => new Response(new ReadableStream({ pull: () => new Promise(() => undefined) }));
    const { error, tookMs } = await ended(get(scriptedFetch(stuck).client({ timeoutMs: 100, retry: false })));
    expect(error).toMatchObject({ kind: "timeout", phase: "body" });
    expect(tookMs).toBeLessThanOrEqual(102);
  });

  test("a rejection after the call has ended is nobody's", async () => {
    const fetch = (): Promise<Response> => new Promise((_, reject) => setTimeout(() => reject(new Error("late")), 500));
    const { error } = await ended(get(scriptedFetch().client({ fetch, timeoutMs: 100, retry: false })));
    expect(error).toMatchObject({ kind: "timeout" });
    await ended(new Promise((resolve) => setTimeout(resolve, 1_000)));
  });
});
