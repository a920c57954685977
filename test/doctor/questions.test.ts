import { describe, expect, test } from "vitest";
import { QUESTIONS } from "../../src/doctor/questions.ts";
import { SCOPES } from "../../src/service/scopes.ts";

describe("the questions", () => {
  test("have ids of their own, and say what they are about", () => {
    const ids = QUESTIONS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, question, about, assumes } of QUESTIONS) {
      expect(id).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(question).toMatch(/\?$/);
      expect(about).toMatch(/API documentation|convention|client/);
      expect(assumes).not.toBe("");
    }
  });

  test.each([
    ["address and version segment", ["version-segment"]],
    ["TLS and clock", ["connection", "clock"]],
    ["status and code for a wrong token", ["refusal-missing-token", "refusal-unknown-token"]],
    [
      "each read scope",
      SCOPES.filter((scope) => scope.endsWith(":read")).map((scope) => `scope-${scope.replace(":", "-")}`),
    ],
    ["rate limit headers and their form", ["rate-limit-headers", "rate-limit-everywhere", "retry-after"]],
    ["limit of 0 and 201", ["limit-zero", "limit-above"]],
    ["two pages of a walk and the cursor", ["limit", "second-page", "end-of-list", "refusal-invalid-cursor"]],
    ["unknown project and session", ["refusal-unknown-project", "refusal-unknown-session"]],
    ["CORS exposure", ["cors"]],
    ["unknown fields of each record", ["fields-project", "fields-session", "fields-issue", "fields-token"]],
    ["a page in place of the service", ["page-for-service"]],
    ["a value with %2F as one segment", ["encoded-slash"]],
  ])("ask about %s", (_, ids) => {
    expect(QUESTIONS.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
  });
});
