import { describe, expect, test } from "vitest";
import {
  ApiError,
  AuthenticationError,
  AutomationError,
  BadRequestError,
  ConflictError,
  type FetchFunction,
  isAutomationError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  RedirectError,
  ResponseParseError,
  ServerError,
} from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { json, text } from "../../../support/replies.ts";
import { openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire("msw");

/** Status, class, kind, outcome of a write; that of a read is the same, or none where that is unknown. */
const TABLE = [
  [300, RedirectError, "redirect", "unknown"],
  [301, RedirectError, "redirect", "unknown"],
  [302, RedirectError, "redirect", "unknown"],
  [303, RedirectError, "redirect", "unknown"],
  [304, RedirectError, "redirect", "unknown"],
  [307, RedirectError, "redirect", "rejected"],
  [308, RedirectError, "redirect", "rejected"],
  [399, RedirectError, "redirect", "unknown"],
  [400, BadRequestError, "bad_request", "rejected"],
  [401, AuthenticationError, "auth", "rejected"],
  [402, ApiError, "api", "rejected"],
  [403, PermissionDeniedError, "permission", "rejected"],
  [404, NotFoundError, "not_found", "rejected"],
  [405, ApiError, "api", "rejected"],
  [408, ApiError, "api", "unknown"],
  [409, ConflictError, "conflict", "rejected"],
  [410, ApiError, "api", "rejected"],
  [413, ApiError, "api", "rejected"],
  [414, ApiError, "api", "rejected"],
  [418, ApiError, "api", "rejected"],
  [422, BadRequestError, "bad_request", "rejected"],
  [423, ApiError, "api", "rejected"],
  [425, ApiError, "api", "rejected"],
  [429, RateLimitError, "rate_limit", "rejected"],
  [451, ApiError, "api", "rejected"],
  [499, ApiError, "api", "rejected"],
  [500, ServerError, "server", "unknown"],
  [501, ServerError, "server", "unknown"],
  [503, ServerError, "server", "unknown"],
  [511, ServerError, "server", "unknown"],
  [599, ServerError, "server", "unknown"],
] as const;

describe("each status has its class, kind and outcome", () => {
  test.each(TABLE)("%i", async (...row) => {
    const [status, Class, kind, outcome] = row;
    wire.script(({ index }) => text(status === 304 ? null : JSON.stringify({ error: `code_${index}` }), status));
    const error = await rejection(wire.client({ retry: false }).sessions.get("s1"));
    expect(error).toBeInstanceOf(Class);
    expect(error).toBeInstanceOf(AutomationError);
    expect(error instanceof ApiError).toBe(Class !== RedirectError);
    expect(isAutomationError(error)).toBe(true);
    expect(error).toMatchObject({
      kind,
      status,
      name: Class.name,
      method: "GET",
      path: "/sessions/{id}",
      attempts: 1,
    });
    expect((error as AutomationError).outcome).toBe(outcome === "unknown" ? undefined : outcome);
    expect((error as AutomationError).code).toBe(status === 304 ? undefined : "code_0");
    expect((error as AutomationError).message).toContain("sessions.get");
    expect((error as AutomationError).message).toContain(String(status));
    for (const Other of [
      AuthenticationError,
      RateLimitError,
      ServerError,
      NotFoundError,
      RedirectError,
      ConflictError,
    ]) {
      expect(error instanceof Other).toBe((Other as unknown) === Class);
    }
  });
});

test.each(TABLE)("%i to a write", async (...row) => {
  const [status, , kind, outcome] = row;
  wire.reply(() => text(status === 304 ? null : "{}", status));
  const error = await rejection(wire.client({ retry: false }).issues.create("p", { title: "t", type: "bug" }));
  expect(error).toMatchObject({ kind, outcome, attempts: 1 });
  expect(/check before sending it again$/.test(String(error))).toBe(outcome === "unknown");
});

test("a redirect that a browser hides: a write may have been applied, a read has no outcome", async () => {
  const hidden = { status: 0, type: "opaqueredirect", headers: new Headers(), text: async () => "" };
  const fetch: FetchFunction = async () => hidden;
  const client = wire.client({ fetch, retry: false });
  const write = await rejection(client.issues.create("p", { title: "t", type: "bug" }));
  expect(write).toMatchObject({ kind: "redirect", outcome: "unknown" });
  const read = (await rejection(client.sessions.get("s"))) as AutomationError; // see the next line
  expect([read.kind, read.outcome]).toEqual(["redirect", undefined]);
});

test.each([200, 201, 202, 206])("%i is success", async (status) => {
  wire.script(json({ number: 1, title: "t", status: "open" }, status));
  expect(await wire.client().issues.create("p", { title: "t", type: "bug" })).toMatchObject({ number: 1 });
});

test.each([204, 205])("%i where a body is due is a parse error", async (status) => {
  wire.script(text(null, status));
  expect(await rejection(wire.client().sessions.get("s"))).toBeInstanceOf(ResponseParseError);
});

test.each([
  ["an HTML page", "<html>broken</html>", undefined, "<html>broken</html>"],
  ["nothing", "", undefined, undefined],
  ["JSON without error", '{"message":"m"}', undefined, { message: "m" }],
  ["an error that is no string", '{"error":{"code":"x"}}', "x", { error: { code: "x" } }],
  ["an error of null", '{"error":null}', undefined, { error: null }],
  ["an array", '["error"]', undefined, ["error"]],
  ["JSON null", "null", undefined, null],
  ["cut JSON", '{"error":"to', undefined, '{"error":"to'],
  ["an error", '{"error":"too_many_requests","more":1}', "too_many_requests", { error: "too_many_requests", more: 1 }],
])("a refusal with %s: classified by status, code and body as far as they are there", async (...row) => {
  const [, body, code, parsed] = row;
  wire.script(text(body, 503));
  const error = await rejection(wire.client({ retry: false }).sessions.get("s"));
  expect(error).toMatchObject({ kind: "server", status: 503 });
  expect((error as AutomationError).code).toBe(code);
  expect((error as AutomationError).body).toEqual(parsed);
  expect((error as AutomationError).message).not.toContain("broken");
});

test("a body of more than 64 KiB is left out, and a hanging one is not waited for", async () => {
  wire.script(
    json({ error: "big", more: "x".repeat(70_000) }, 400),
    () =>
      new Response(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) }), {
        status: 400,
      }),
  );
  const client = wire.client();
  for (let round = 0; round < 2; round += 1) {
    const error = await rejection(client.sessions.get("s"));
    expect(error).toMatchObject({ kind: "bad_request", status: 400 });
    expect((error as AutomationError).body).toBeUndefined();
  }
});

test("the request id of the response is on the error and in its message", async () => {
  wire.script(json({ error: "nope" }, 404, { "x-request-id": "req_9" }));
  const error = await rejection(wire.client().sessions.get("s"));
  expect(error).toMatchObject({ requestId: "req_9", code: "nope" });
  expect((error as AutomationError).message).toBe("sessions.get: 404 nope (request req_9)");
});

test.each([
  ["projects.list", "projects:read", (c: ReturnType<typeof wire.client>) => c.projects.list().toArray()],
  [
    "issues.create",
    "issues:write",
    (c: ReturnType<typeof wire.client>) => c.issues.create("p", { title: "t", type: "bug" }),
  ],
  ["sessions.list", "sessions:read", (c: ReturnType<typeof wire.client>) => c.sessions.list("p").toArray()],
  ["sessions.get", "sessions:read", (c: ReturnType<typeof wire.client>) => c.sessions.get("s")],
])("a 403 of %s names %s", async (name, scope, call) => {
  wire.script(json({ error: "forbidden" }, 403));
  const error = await rejection(call(wire.client()));
  expect(error).toBeInstanceOf(PermissionDeniedError);
  expect((error as Error).message).toContain(scope);
  expect((error as Error).message).toContain(name);
});

test("a redirect is not followed, and the token is not sent elsewhere", async () => {
  wire.script(text(null, 307, { location: "https://other.example.com/steal" }));
  expect(await rejection(wire.client().issues.create("p", { title: "t", type: "bug" }))).toBeInstanceOf(RedirectError);
  expect(wire.sent).toHaveLength(1);
});

test.each([
  [
    "issues.create",
    (c: ReturnType<typeof wire.client>) => c.issues.create("p", { title: "t", type: "bug" }),
    /applied/,
  ],
  ["tokens.rotate", (c: ReturnType<typeof wire.client>) => c.tokens.rotate("t"), /old token may be dead/],
  ["tokens.revoke", (c: ReturnType<typeof wire.client>) => c.tokens.revoke("t", { retry: false }), /applied/],
])("a %s that may have been applied says so", async (_, call, words) => {
  wire.script(json({ error: "internal" }, 500));
  const error = await rejection(call(wire.client()));
  expect(error).toMatchObject({ kind: "server", outcome: "unknown" });
  expect((error as Error).message).toMatch(words);
});
