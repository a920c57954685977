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

/** Status, class and kind. The outcome of a write is in `outcome-table.test.ts`. */
const TABLE = [
  [300, RedirectError, "redirect"],
  [301, RedirectError, "redirect"],
  [302, RedirectError, "redirect"],
  [303, RedirectError, "redirect"],
  [304, RedirectError, "redirect"],
  [307, RedirectError, "redirect"],
  [308, RedirectError, "redirect"],
  [399, RedirectError, "redirect"],
  [400, BadRequestError, "bad_request"],
  [401, AuthenticationError, "auth"],
  [402, ApiError, "api"],
  [403, PermissionDeniedError, "permission"],
  [404, NotFoundError, "not_found"],
  [405, ApiError, "api"],
  [408, ApiError, "api"],
  [409, ConflictError, "conflict"],
  [410, ApiError, "api"],
  [413, ApiError, "api"],
  [414, ApiError, "api"],
  [418, ApiError, "api"],
  [422, BadRequestError, "bad_request"],
  [423, ApiError, "api"],
  [425, ApiError, "api"],
  [429, RateLimitError, "rate_limit"],
  [451, ApiError, "api"],
  [499, ApiError, "api"],
  [500, ServerError, "server"],
  [501, ServerError, "server"],
  [503, ServerError, "server"],
  [511, ServerError, "server"],
  [599, ServerError, "server"],
] as const;

describe("each status has its class and kind", () => {
  test.each(TABLE)("%i", async (...row) => {
    const [status, Class, kind] = row;
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
