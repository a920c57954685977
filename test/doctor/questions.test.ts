import { describe, expect, test } from "vitest";
import { agrees, contradicts, question } from "../../src/doctor/question.ts";
import { QUESTIONS } from "../../src/doctor/questions.ts";
import { step } from "../../src/doctor/step.ts";
import { SCOPES } from "../../src/service/scopes.ts";
import { startEmulator } from "../../src/testing/node.ts";
import { examine } from "./examine.ts";

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
    ["deprecation headers", ["deprecation", "sunset"]],
    ["a page in place of the service", ["page-for-service"]],
    ["a value with %2F as one segment", ["encoded-slash"]],
  ])("ask about %s", (_, ids) => {
    expect(QUESTIONS.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
  });

  test("a new one is one entry: what it asks, and how it judges", async () => {
    const favourite = question({
      id: "favourite",
      question: "Does GET /favourite exist?",
      about: "API documentation 4: not shown",
      assumes: "no",
      asks: { reply: step({ request: () => ({ path: "/favourite" }) }) },
      judge: ({ reply }) =>
        reply.status === 404 ? agrees("no") : contradicts(`answered ${reply.status}`, "it is a favourite"),
    });
    await using service = await startEmulator();
    const absent = await examine(service, { asked: [favourite] });
    expect(absent.report.questions).toEqual([
      {
        id: "favourite",
        verdict: "agrees",
        question: "Does GET /favourite exist?",
        seen: "no",
        assumes: "no",
        about: "API documentation 4: not shown",
      },
    ]);
    service.emulator.fault({ match: ({ path }) => path === "/favourite", status: 200, body: {} });
    expect((await examine(service, { asked: [favourite] })).contradictions).toEqual({ favourite: "answered 200" });
  });
});
