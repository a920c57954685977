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
  ServerError,
} from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { json, text } from "../../../support/replies.ts";
import { openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire("msw");

/** Status, class and kind. The outcome of a write is in `outcome-table.test.ts`. */
const TABLE = [
  [300, RedirectError, "redirect"],
  [399, RedirectError, "redirect"],
  [400, BadRequestError, "bad_request"],
  [401, AuthenticationError, "auth"],
  [402, ApiError, "api"],
  [403, PermissionDeniedError, "permission"],
  [404, NotFoundError, "not_found"],
  [409, ConflictError, "conflict"],
  [422, BadRequestError, "bad_request"],
  [429, RateLimitError, "rate_limit"],
  [500, ServerError, "server"],
  [599, ServerError, "server"],
] as const;

describe("each status has its class and kind", () => {
  test.each(TABLE)("%i", async (...row) => {
    const [status, Class, kind] = row;
    wire.script(({ index }) => text(JSON.stringify({ error: `code_${index}` }), status));
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
    expect((error as AutomationError).code).toBe("code_0");
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

test.each([
  ["an HTML page", "<html>broken</html>", undefined, "<html>broken</html>"],
  ["nothing", "", undefined, undefined],
  ["JSON without error", '{"message":"m"}', undefined, { message: "m" }],
  ["an error that is no string", '{"error":{"code":"x"}}', "x", { error: { code: "x" } }],
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
