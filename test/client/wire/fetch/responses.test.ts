/** What a `fetch` of the caller's resolves with: less than a `Response`, or one whose body it has read. */
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { type Client, path } from "../../../../src/client/index.ts";
import { ended, fakeTime } from "../../../support/fake-time.ts";
import { good, type Reply } from "../../../support/replies.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

const ISSUE = { number: 1, title: "One", status: "open" };
const headers = new Headers();

/** The types reject what these tests resolve with, but callers without types may do so. */
const resolves = (value: unknown) => scriptedFetch(() => value as Response);
const create = (client: Client): Promise<unknown> => client.issues.create("web", { title: "One", type: "bug" });

describe("an object that is less than a Response", () => {
  /** As a mock: no web stream, no `ok`, no `type`. */
  const mock = (status: number, body: string, more: object = {}) =>
    resolves({ status, headers: new Map(), text: async () => body, ...more });

  test("a success is read by text()", async () => {
    expect((await ended(create(mock(201, JSON.stringify(ISSUE)).client()))).value).toEqual(ISSUE);
  });

  test("a refusal larger than 64 KiB has no body, in bytes and not in characters", async () => {
    const long = JSON.stringify({ error: "long", message: "é".repeat(40_000) });
    const { error } = await ended(mock(400, long).client().sessions.get("1"));
    expect(error).toMatchObject({ kind: "bad_request" });
    expect(error).not.toHaveProperty("body");
  });

  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["an object whose headers are a record", { status: 200, ok: true, headers: {}, json: async () => ({}) }],
    ["an object without a status", { headers }],
  ])("%s is no response", async (_, value) => {
    const { error } = await ended(resolves(value).client({ retry: false }).sessions.get("1"));
    expect(error).toMatchObject({ kind: "connection" });
  });
});

describe("a body that does not do what it should is lost before its first character", () => {
  const throwing = (): never => {
    throw new Error("this substitute has no such method");
  };
  const reader = (more: object): object => ({ getReader: () => more });

  describe.each<[string, object]>([
    ["whose text() resolves with a number", { text: async () => 42 }],
    ["whose text() throws", { text: throwing }],
    ["whose getReader() throws", { body: { getReader: throwing } }],
    ["whose reader resolves with strings", { body: reader({ read: async () => ({ value: "x" }), cancel: throwing }) }],
    ["whose cancel() returns nothing", { body: reader({ read: throwing, cancel: () => undefined }) }],
  ])("a response %s", (_, body) => {
    test.each([
      { status: 201, error: { kind: "connection", outcome: "unknown", attempts: 1 } },
      { status: 400, error: { kind: "bad_request", outcome: "unknown", attempts: 1 } },
    ])("with status $status: $error.outcome", async ({ status, error }) => {
      expect((await ended(create(resolves({ status, headers, ...body }).client()))).error).toMatchObject(error);
    });
  });
});

test("a stream of texts is told as that: the message quotes nothing, since it may be a one-time secret", async () => {
  const body = new ReadableStream({ start: (stream) => stream.enqueue("only once, in this response") });
  const { error } = await ended(create(resolves({ status: 201, headers, body }).client()));
  expect(error).toMatchObject({ kind: "connection", outcome: "unknown" });
  expect((error as Error).message).toContain("a part of its stream is not bytes");
  expect(inspect(error)).not.toContain("only once");
});

describe("a body that fetch has read, to log it for instance", () => {
  /** Reads each response that a reply makes. */
  const reads =
    (reply: Reply): Reply =>
    async (sent) => {
      const response = await reply(sent);
      await response.text();
      return response;
    };

  test("a write may have been accepted, and the error says what to do", async () => {
    const { error } = await ended(create(scriptedFetch(reads(good)).client()));
    expect(error).toMatchObject({ kind: "connection", outcome: "unknown", attempts: 1 });
    expect(String((error as Error).cause)).toContain("clone()");
  });

  test("a refusal is known by its status, and not as the service's", async () => {
    const write = reads(() => new Response('{"error":"said"}', { status: 422 }));
    const refused = await ended(create(scriptedFetch(write).client()));
    expect(refused.error).toMatchObject({ kind: "bad_request", outcome: "unknown" });
    const refusal = (status: number): Reply =>
      reads(() => new Response('{"error":"said"}', { status, headers: { "retry-after": "1" } }));
    const service = scriptedFetch(refusal(429), refusal(500), refusal(404));
    const { error } = await ended(service.client().sessions.get("1"));
    expect(error).toMatchObject({ kind: "not_found", attempts: 3 });
  });

  test("a DELETE has done its work by its status", async () => {
    const service = scriptedFetch(reads(() => new Response("{}")));
    const { error } = await ended(service.client().request({ method: "DELETE", path: path`/locks/1` }));
    expect(error).toBeUndefined();
    expect(service.sent).toHaveLength(1);
  });
});
