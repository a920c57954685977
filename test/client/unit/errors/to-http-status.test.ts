/** The status that a server answers its own visitor with. */
import { describe, expect, test } from "vitest";
import { BulkError, JournalError, SendError } from "../../../../src/bulk/index.ts";
import * as sdk from "../../../../src/client/index.ts";
import { toHttpStatus } from "../../../../src/client/index.ts";

const ERRORS: Readonly<Record<sdk.AnyAutomationError["kind"], readonly [status: number, error: sdk.AutomationError]>> =
  {
    argument: [400, new sdk.ArgumentError("x")],
    bad_request: [400, new sdk.BadRequestError("x", { status: 422 })],
    auth: [500, new sdk.AuthenticationError("x", { status: 401 })],
    permission: [403, new sdk.PermissionDeniedError("x", { status: 403 })],
    not_found: [404, new sdk.NotFoundError("x", { status: 404 })],
    conflict: [409, new sdk.ConflictError("x", { status: 409 })],
    rate_limit: [429, new sdk.RateLimitError("x", { status: 429 })],
    server: [502, new sdk.ServerError("x", { status: 503 })],
    api: [502, new sdk.ApiError("x", { status: 418 })],
    redirect: [502, new sdk.RedirectError("x", { status: 302 })],
    connection: [502, new sdk.ConnectionError("x")],
    timeout: [504, new sdk.TimeoutError("x", { phase: "headers" })],
    abort: [499, new sdk.AbortError("x")],
    parse: [502, new sdk.ResponseParseError("x", { status: 200 })],
    validation: [502, new sdk.ResponseValidationError("x", { status: 200 })],
    pagination: [502, new sdk.PaginationError("x")],
    config: [500, new sdk.ConfigError("x")],
    token_provider: [500, new sdk.TokenProviderError("x")],
    journal: [500, new JournalError("x", { reason: "failed" })],
    bulk: [500, new BulkError("x", { summary: { done: 1, skipped: 0, refused: 1, not_sent: 0, unknown: 0 } })],
    send: [500, new SendError("x", { key: "A-1", result: {} })],
  };

describe("toHttpStatus", () => {
  test.each(Object.entries(ERRORS))("%s", (kind, [status, error]) => {
    expect(error.kind).toBe(kind);
    expect(toHttpStatus(error)).toBe(status);
    expect(toHttpStatus(error, { visitorToken: false })).toBe(status);
    expect(toHttpStatus(error, { visitorToken: true })).toBe(kind === "auth" ? 401 : status);
  });

  test.each([undefined, null, 404, "404", {}, { status: 404 }, new Error("404"), Object.create(null), () => {}])(
    "anything but an error of this library is 500: %s",
    (thrown) => {
      expect(toHttpStatus(thrown, { visitorToken: true })).toBe(500);
    },
  );

  test("an error of another copy of the package is one", () => {
    const kind = { kind: "not_found", [Symbol.for("project-automation.error")]: true };
    expect(toHttpStatus(kind)).toBe(404);
    expect(toHttpStatus({ ...kind, kind: "of_a_later_version" })).toBe(500);
  });
});
