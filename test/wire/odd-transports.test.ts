/** A caller's `fetch` and rate limiters that violate their contract. */
import { describe, expect, test } from "vitest";
import { type ClientEvent, isAutomationError, type RateLimiter } from "../../src/index.ts";
import { allEnded, ended, fakeTime } from "../support/fake-time.ts";
import { fetchFailed } from "../support/fetch-errors.ts";
import { failsWith, good, type Reply } from "../support/replies.ts";
import { scriptedFetch } from "../support/scripted-fetch.ts";

fakeTime();

describe("a fetch", () => {
  const garbage: readonly [string, unknown][] = [
    ["undefined", undefined],
    ["null", null],
    ["a string", "200 OK"],
    ["an object", {}],
    ["an object with a status", { status: 200, ok: true, headers: new Headers() }],
    ["an object whose headers are a record", { status: 200, ok: true, headers: {}, json: async () => ({}) }],
    ["an object whose headers are null", { status: 200, ok: true, headers: null }],
    ["an object without a status", { headers: new Headers() }],
    ["a Response.error()", Response.error()],
  ];
  test.each(garbage)("that resolves with %s", async (_, value) => {
    const { error } = await ended(
      scriptedFetch(() => value as Response)
        .client({ retry: false })
        .sessions.get("1"),
    );
    expect(error).toMatchObject({ kind: "connection" });
  });

  test("that reads the body before it returns: the status still counts", async () => {
    const read =
      (status: number): Reply =>
      async () => {
        const response = new Response('{"error":"said"}', { status, headers: { "retry-after": "1" } });
        await response.text();
        return response;
      };
    const service = scriptedFetch(read(429), read(500), read(404));
    const { error } = await ended(service.client().sessions.get("1"));
    expect(error).toMatchObject({ kind: "not_found", attempts: 3, outcome: "rejected" });
  });

  test("that throws before it is a promise", async () => {
    const fetch = (): never => {
      throw fetchFailed("ECONNREFUSED");
    };
    const { error } = await ended(
      scriptedFetch()
        .client({ fetch, retry: { attempts: 2 } })
        .sessions.get("1"),
    );
    expect(error).toMatchObject({ kind: "connection", attempts: 2, outcome: "not_sent", platformCode: "ECONNREFUSED" });
  });

  test("that returns one Response twice", async () => {
    const shared = new Response('{"id":"ses_1","state":"running"}');
    const client = scriptedFetch(() => shared).client({ retry: false });
    const settled = await allEnded([client.sessions.get("1"), client.sessions.get("1")]);
    expect(settled.filter(({ error }) => error === undefined)).toHaveLength(1);
    expect(settled.filter(({ error }) => isAutomationError(error))).toHaveLength(1);
  });

  test("that ignores its signal: the call still ends in time", async () => {
    const fetch = (): Promise<Response> => new Promise(() => undefined);
    const { error, tookMs } = await ended(
      scriptedFetch().client({ fetch, timeoutMs: 100, retry: false }).sessions.get("1"),
    );
    expect(error).toMatchObject({ kind: "timeout", phase: "headers" });
    expect(tookMs).toBeLessThanOrEqual(102);
  });

  test("whose body ignores its signal, too", async () => {
    const stuck: Reply = () => new Response(new ReadableStream({ pull: () => new Promise(() => undefined) }));
    const { error, tookMs } = await ended(
      scriptedFetch(stuck).client({ timeoutMs: 100, retry: false }).sessions.get("1"),
    );
    expect(error).toMatchObject({ kind: "timeout", phase: "body" });
    expect(tookMs).toBeLessThanOrEqual(102);
  });

  test("whose rejection arrives after the call has ended", async () => {
    const fetch = (): Promise<Response> => new Promise((_, reject) => setTimeout(() => reject(new Error("late")), 500));
    const { error } = await ended(scriptedFetch().client({ fetch, timeoutMs: 100, retry: false }).sessions.get("1"));
    expect(error).toMatchObject({ kind: "timeout" });
    await ended(new Promise((resolve) => setTimeout(resolve, 1_000)));
  });

  test("two DNS failures, then a response: success, and two retry events", async () => {
    const events: ClientEvent[] = [];
    const flap = failsWith("EAI_AGAIN");
    const client = scriptedFetch(flap, flap, good).client({ onEvent: (event) => void events.push(event) });
    expect((await ended(client.sessions.get("1"))).error).toBeUndefined();
    expect(events.filter(({ type }) => type === "retry")).toMatchObject([
      { reason: "connection" },
      { reason: "connection" },
    ]);
  });
});

describe("a rate limiter of the caller's own", () => {
  const broken: readonly [string, Pick<RateLimiter, "enter">][] = [
    ["enter throws", { enter: () => raise() }],
    [
      "admission rejects",
      {
        enter: () => ({
          acquire: () => Promise.reject(new Error("no")),
          confirm: () => true,
          report: () => undefined,
          release: () => undefined,
        }),
      },
    ],
    [
      "confirm throws",
      {
        enter: () => ({
          acquire: async () => ({ kind: "admitted" }),
          confirm: raise,
          report: () => undefined,
          release: () => undefined,
        }),
      },
    ],
    [
      "responded throws",
      {
        enter: () => ({
          acquire: async () => ({ kind: "admitted" }),
          confirm: () => true,
          report: raise,
          release: () => undefined,
        }),
      },
    ],
    [
      "release throws",
      {
        enter: () => ({
          acquire: async () => ({ kind: "admitted" }),
          confirm: () => true,
          report: () => undefined,
          release: raise,
        }),
      },
    ],
  ];
  test.each(broken)("%s: only an error of this package is thrown, and no timer is left", async (_, part) => {
    const service = scriptedFetch(good);
    const rateLimiter: RateLimiter = { refresh: () => undefined, snapshot: () => undefined, ...part };
    const client = service.client({ rateLimiter, totalTimeoutMs: 60_000, retry: false });
    const { error } = await ended(client.sessions.get("1"));
    if (error !== undefined) expect(isAutomationError(error)).toBe(true);
  });

  test("one that admits every call is asked before each attempt, and gets each status", async () => {
    const calls: string[] = [];
    const rateLimiter: RateLimiter = {
      enter: () => ({
        acquire: async () => {
          calls.push("admission");
          return { kind: "admitted" };
        },
        confirm: () => true,
        report: ({ status }) => {
          calls.push(String(status));
          return undefined;
        },
        release: () => void calls.push("release"),
      }),
      refresh: () => undefined,
      snapshot: () => undefined,
    };
    const service = scriptedFetch(() => new Response("{}", { status: 500 }), good);
    await ended(service.client({ rateLimiter }).sessions.get("1"));
    expect(calls).toEqual(["admission", "500", "release", "admission", "200", "release"]);
  });

  const ends = [
    { by: "the attempt's budget", options: { timeoutMs: 1_000 }, kind: "timeout" },
    { by: "the call's budget", options: { totalTimeoutMs: 1_000 }, kind: "timeout" },
    { by: "the caller", options: {}, kind: "abort" },
  ];
  test.each(ends)(
    "one that never confirms is not waited for longer than $by allows, and nothing is sent",
    async (end) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 1_000);
      const { by, kind, options } = end;
      const released: number[] = [];
      const rateLimiter: RateLimiter = {
        enter: () => ({
          acquire: () => ({ kind: "admitted" }),
          confirm: () => new Promise<boolean>(() => {}),
          report: () => undefined,
          release: () => void released.push(1),
        }),
        refresh: () => undefined,
        snapshot: () => undefined,
      };
      const service = scriptedFetch(good);
      const client = service.client({ rateLimiter, retry: false });
      const signal = by === "the caller" ? { signal: controller.signal } : {};
      const { error } = await ended(
        client.issues.create("web", { title: "One", type: "bug" }, { ...options, ...signal }),
      );
      expect(error).toMatchObject({ kind, outcome: "not_sent" });
      expect(released).toHaveLength(1);
      expect(service.sent).toEqual([]);
    },
  );
});

function raise(): never {
  throw new Error("no");
}
