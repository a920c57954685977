/** What the message of an error tells a person: the service's own words and hints; never a secret or markup. */
import { describe, expect, test } from "vitest";
import type { AutomationError, FetchFunction } from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { json, text } from "../../../support/replies.ts";
import { openWire, TOKEN } from "../../../support/scripted-fetch.ts";
import { expectClean } from "../../../support/sweep.ts";

const wire = openWire();
const input = { title: "", type: "bug" };

async function refusal(response: Response, options = {}): Promise<AutomationError> {
  wire.reply(() => response.clone());
  return (await rejection(wire.client({ retry: false, ...options }).issues.create("web", input))) as AutomationError; // all are
}

describe("the service's own sentence", () => {
  test("is in the message and in detail", async () => {
    const said = "title is required and must be a non-empty string";
    const error = await refusal(json({ error: "invalid_request", message: said }, 422, { "x-request-id": "req_7" }));
    expect(error.message).toBe(`issues.create: 422 invalid_request: ${said} (request req_7)`);
    expect(error.detail).toBe(said);
    expect(error.toJSON()).toMatchObject({ detail: said, code: "invalid_request", requestId: "req_7" });
  });

  test.each<[string, unknown, string | undefined]>([
    ["message before detail", { message: "from message", detail: "from detail" }, "from message"],
    ["detail, where there is no message", { detail: "from detail" }, "from detail"],
    ["nothing else", { error: "code", description: "x", title: "y" }, undefined],
    ["nothing that is inherited", { error: "code", __proto__: { message: "inherited" } }, undefined],
    [
      "one line",
      { message: "first\n  second\r\n\tthird\u2028fourth\u0085fifth\u001b[31m" },
      "first second third fourth fifth [31m",
    ],
    ["no marks that turn text around", { message: "safe \u202egnp.exe" }, "safe gnp.exe"],
    ["a comparison", { message: "limit must be < 200" }, "limit must be < 200"],
    ["detail, where the message is empty", { message: " ", detail: "from detail" }, "from detail"],
    ["at most 300 characters", { message: "x".repeat(400) }, `${"x".repeat(299)}…`],
    [
      "no secret",
      { message: `Authorization: Bearer ${TOKEN} was refused` },
      "Authorization: Bearer [redacted] was refused",
    ],
    ["no secret that the limit would cut", { message: `${"x".repeat(290)} ${TOKEN}` }, `${"x".repeat(290)} [redacte…`],
  ])("%s", async (_, body, detail) => {
    const error = await refusal(json(body, 400));
    expect(error.detail).toBe(detail);
    if (detail === undefined) expect(error.message).not.toContain(":  ");
    else expect(error.message).toContain(detail);
    expect(error.message).not.toMatch(/[<][a-z!/]|[\n\r]/i);
  });

  test("a proxy's page is in no message, and its beginning is in body", async () => {
    const page = `<html><h1>Bad Gateway</h1>${"x".repeat(5_000)}</html>`;
    const error = await refusal(text(page, 502, { "content-type": "text/html" }));
    expect(error.message).toMatch(
      /^issues\.create: 502; the body is text\/html, not JSON, .*; it may have been applied: check/,
    );
    expect(error.message).not.toContain("Bad Gateway");
    expect(error.body).toBe(page.slice(0, 2_000));
  });
});

describe("hints", () => {
  const hint = "; if every call ends so, baseUrl may lack its version segment, such as /api/v1";
  const refusals = [text("Cannot POST /projects/web/issues", 404), json({ error: "not_found" }, 404)];

  test.each(["https://automation.example.com", "https://automation.example.com/api", "https://v1.example.com/api"])(
    "a 404 at %s says that it may lack its version segment",
    async (baseUrl) => {
      for (const response of refusals) expect((await refusal(response, { baseUrl })).message).toMatch(hint);
    },
  );

  test.each(["/api/v1", "/v2", "/api/v1beta1/"])("a 404 below %s does not", async (prefix) => {
    const baseUrl = `https://automation.example.com${prefix}`;
    for (const response of refusals) expect((await refusal(response, { baseUrl })).message).not.toContain("baseUrl");
  });
});

describe("a limit is named with its value", () => {
  const never: FetchFunction = () => new Promise(() => {});

  test.each(["timeoutMs", "totalTimeoutMs"])("%s", async (name) => {
    const error = await rejection(wire.client({ fetch: never, retry: false, [name]: 20 }).sessions.get("s"));
    expect((error as Error).message).toBe(`sessions.get: ${name} (20) ran out while waiting for the response`);
  });
});

describe("whose fault a failed connection is", () => {
  const failing = async (fetch: unknown, method: "get" | "create" = "get"): Promise<string> => {
    const client = wire.client({ retry: false, fetch: fetch as FetchFunction }); // callers without types pass anything
    const call = method === "get" ? client.sessions.get("s") : client.issues.create("web", { title: "t", type: "bug" });
    return ((await rejection(call)) as Error).message;
  };
  const rejecting = (error: unknown) => () => Promise.reject(error);

  test.each<[string, unknown, string]>([
    ["that threw", rejecting(new TypeError("x is not a function")), "x is not a function"],
    ["that threw what has no message", rejecting({ no: true }), "it does not say why"],
    ["that threw a secret", rejecting(new Error(`Bearer ${TOKEN}\nis bad`)), "Bearer [redacted] is bad"],
    ["that returned nothing", async () => undefined, "fetch resolved with undefined, not with a response"],
    ["that returned a text", async () => "200 OK", 'fetch resolved with "200 OK", not with a response'],
    [
      "that returned the status 101",
      async () => ({ status: 101, headers: new Headers(), text: async () => "{}" }),
      "fetch resolved with status 101",
    ],
  ])("a fetch of the application %s", async (_, fetch, said) => {
    expect(await failing(fetch)).toBe(`sessions.get: the request to automation.example.com failed: ${said}`);
  });

  test.each(["code", "cause", "message"])(
    "an error whose %s throws when it is read is one of the fetch",
    async (name) => {
      const unreadable = Object.defineProperty(new Error("x"), name, {
        get: () => {
          throw new Error("unreadable");
        },
      });
      const fetches = [
        rejecting(unreadable),
        async () => ({ status: 201, headers: new Headers(), text: rejecting(unreadable) }),
      ];
      for (const fetch of fetches) {
        const client = wire.client({ retry: false, fetch });
        const error = await rejection(client.issues.create("web", { title: "t", type: "bug" }));
        expect(error).toMatchObject({ kind: "connection", outcome: "unknown", attempts: 1 });
      }
    },
  );

  test.each<[string, object, string]>([
    ["has no text()", { json: async () => ({}) }, "response.text is not a function"],
    ["was read already", { bodyUsed: true }, "read a clone() of it instead"],
  ])("a response that %s", async (_, body, said) => {
    const message = await failing(async () => ({ status: 201, headers: new Headers(), ...body }), "create");
    expect(message).toContain("issues.create: the response of automation.example.com could not be read: ");
    expect(message).toContain(said);
    expect(message).toMatch(/it may have been applied: check before sending it again/);
  });
});

describe("header values that are shown", () => {
  const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/;
  const hostile = `a\u0085b\u009b31m ${TOKEN} ${"x".repeat(400)}`;

  test("the request id is redacted, bounded and free of control characters", async () => {
    const { requestId = "", message } = await refusal(json({ error: "no" }, 400, { "x-request-id": hostile }));
    expect(requestId).toContain("a b 31m [redacted]");
    for (const shown of [requestId, message]) {
      expect(shown).not.toMatch(CONTROLS);
      expect(shown).not.toContain(TOKEN);
    }
    expect(requestId.length).toBeLessThanOrEqual(200);
  });

  test("a header that is nothing but control characters is none", async () => {
    expect(await refusal(json({}, 400, { "x-request-id": "\u0085\u009b" }))).not.toHaveProperty("requestId");
  });
});

test("the caller's own secret headers are redacted where the service echoes them", async () => {
  const headers = {
    "x-api-key": "k3y-0f-the-caller",
    "x-trace": "harmless-value",
    "proxy-authorization": "Basic dTpw",
  };
  const body = {
    error: "no",
    message: "x-api-key k3y-0f-the-caller, Basic dTpw",
    seen: { a: ["k3y-0f-the-caller"], b: "harmless-value" },
  };
  const error = await refusal(json(body, 400), { headers });
  expectClean(error, ["k3y-0f-the-caller", "dTpw"]);
  expect(error.body).toMatchObject({ seen: { b: "harmless-value" } });
});

describe("no character is half", () => {
  const isWellFormed = (value: unknown): boolean => !/\\ud[89a-f]/i.test(JSON.stringify(value));

  test.each([297, 298, 299, 300])("of a sentence with %i characters before an emoji", async (before) => {
    const error = await refusal(json({ error: "invalid", message: `${"a".repeat(before)}😀 and more` }, 422));
    expect(error.detail).toMatch(/^a+(?:😀[ a-z]*)?…$/u);
    expect(isWellFormed([error.message, error.detail, error.toJSON()])).toBe(true);
  });

  test("also where the service sends half of one", async () => {
    const error = await refusal(text('{"error":"invalid","message":"cut \\ud83d","field":["\\ude00"]}', 422, {}));
    expect(error.detail).toBe("cut \ufffd");
    expect(error.body).toEqual({ error: "invalid", message: "cut \ufffd", field: ["\ufffd"] });
    expect(isWellFormed([error.message, error.toJSON()])).toBe(true);
  });

  test("of a page that is cut", async () => {
    for (let before = 1995; before < 2005; before += 1) {
      expect(isWellFormed((await refusal(text(`${"a".repeat(before)}😀`, 502))).body)).toBe(true);
    }
  });
});

describe("a 404 for a name that a proxy may have decoded", () => {
  const HINT = "a proxy may have decoded its path: pass the id";
  const about = async (project: string, response: Response): Promise<string> => {
    wire.reply(() => response.clone());
    const call = wire.client({ retry: false }).issues.create(project, { title: "One", type: "bug" });
    return ((await rejection(call)) as AutomationError).message;
  };

  test.each(["team/api", "a\\b", "100%", "a%2Fb"])("says so: %j", async (project) => {
    expect(await about(project, json({ error: "not_found" }, 404))).toContain(HINT);
    expect(await about(project, text("<h1>Not Found</h1>", 404))).toContain(HINT);
  });

  test("says nothing of it for any other name or status", async () => {
    for (const project of ["web", "my project", "ü", "a.b"]) {
      expect(await about(project, json({ error: "not_found" }, 404))).not.toContain("decoded");
    }
    expect(await about("team/api", json({ error: "conflict" }, 409))).not.toContain("decoded");
  });
});
