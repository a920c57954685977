/** Messages about a service that is not as the API documentation says: response by response. */
import { describe, expect, test } from "vitest";
import { type AutomationError, type ClientOptions, path, type RedirectError } from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { json, text } from "../../../support/replies.ts";
import { BASE, openWire, TOKEN } from "../../../support/scripted-fetch.ts";
import { expectClean } from "../../../support/sweep.ts";

const wire = openWire();
const DOCTOR = "`npx project-automation doctor` compares the service with what this client expects";
const NOT_OURS = `so it may not be from the service; ${DOCTOR}`;
const SCOPE =
  "the API documentation asks for projects:read: both the token's scopes and its owner's permissions must allow it";
const html = (status: number, body = "<html><body>Blocked</body></html>"): Response =>
  text(body, status, { "content-type": "text/html; charset=utf-8" });
const to = (status: number, location?: string): Response =>
  text(null, status, location === undefined ? {} : { location });

async function list(response: Response, options: ClientOptions = {}): Promise<AutomationError> {
  wire.reply(() => response.clone());
  return (await rejection(
    wire
      .client({ retry: false, ...options })
      .projects.list()
      .page(),
  )) as AutomationError; // all are
}

const NO_ERROR = "its body has no `error`, so it may not be from the service";

/** Refusals of `projects.list`, and what follows its name in the message. */
const REFUSALS: readonly (readonly [what: string, Response, message: string, baseUrl?: string])[] = [
  ["error as an object", json({ error: { code: "E42", message: "no way" } }, 400), "400 E42: no way"],
  ["error as a sentence", json({ error: "no way, sorry" }, 400), "400: no way, sorry"],
  [
    "a sentence above an error as an object",
    json({ message: "no way", error: { code: "E42", message: "x" } }, 400),
    "400 E42: no way",
  ],
  [
    "a code beside the sentence, and one further down",
    json({ message: "no way", code: "E42", error: { code: "E43" } }, 400),
    "400 E42: no way",
  ],
  [
    "errors of objects",
    json({ errors: [{ code: "E42", message: "no way" }, { message: "x" }] }, 422),
    `422 E42: no way; ${NO_ERROR}`,
  ],
  ["errors of strings", json({ errors: ["no way"] }, 422), `422: no way; ${NO_ERROR}`],
  ["no errors at all", json({ errors: [] }, 422), `422; ${NO_ERROR}`],
  [
    "problem+json",
    json({ title: "t", detail: "limit must be positive" }, 422),
    `422: limit must be positive; ${NO_ERROR}`,
  ],
  ["a gateway's 403", json({ message: "blocked" }, 403), `403: blocked; ${NO_ERROR}`],
  [
    "words in angle brackets",
    json({ message: "limit must be <integer> or <a number>" }, 422),
    `422: limit must be <integer> or <a number>; ${NO_ERROR}`,
  ],
  ["its own 403", json({ error: "forbidden" }, 403), `403 forbidden; ${SCOPE}`],
  ["a firewall's 403", html(403), `403; the body is text/html, not JSON, ${NOT_OURS}`],
  [
    "text without a type",
    text(new TextEncoder().encode("busy") as never, 500),
    `500; the body is not JSON, ${NOT_OURS}`,
  ],
  [
    "plain HTTP at a port for TLS",
    html(400, "<h1>400 The plain HTTP request was sent to HTTPS port</h1>"),
    "400; this port speaks https:, and baseUrl says http:",
    "http://localhost/api/v1",
  ],
  [
    "a redirect to another host",
    to(301, "https://user:pw@other.example/x/y?token=1#z"),
    "301; it leads to https://other.example/x/y; redirects are not followed: check baseUrl",
  ],
  [
    "a redirect to a path",
    to(302, "/login?next=%2Fapi"),
    "302; it leads to https://automation.example.com/login; redirects are not followed: check baseUrl",
  ],
  ["a redirect to an app", to(303, "app:home"), "303; it leads to app:home; redirects are not followed: check baseUrl"],
  ["a redirect to nowhere", to(307), "307; redirects are not followed: check baseUrl"],
  ["a redirect to no URL", to(308, "https://["), "308; redirects are not followed: check baseUrl"],
  ["a 304", to(304), "304; only If-None-Match or If-Modified-Since, a header, asks for a 304"],
  [
    "a Retry-After",
    json({ error: "slow" }, 429, { "retry-after": "3600" }),
    "429 slow; the service asks to wait 3600 s",
  ],
  [
    "a Retry-After of no use",
    json({ error: "slow" }, 429, { "retry-after": "soon" }),
    "429 slow; its Retry-After is neither seconds nor an HTTP date",
  ],
  [
    "a Retry-After of no use, at a 503",
    json({ error: "down" }, 503, { "retry-after": "5s" }),
    "503 down; its Retry-After is neither seconds nor an HTTP date",
  ],
  ["a Retry-After where it means nothing", json({ error: "no" }, 400, { "retry-after": "soon" }), "400 no"],
  [
    "an address that lacks its version",
    json({ error: "no" }, 404),
    "404 no; if every call ends so, baseUrl may lack its version segment, such as /api/v1",
    "https://automation.example.com/api",
  ],
  [
    "an address that has too much",
    json({ error: "no" }, 404),
    "404 no; if every call ends so, leave /projects out of baseUrl: it ends with the version segment, such as /api/v1",
    `${BASE}/projects/`,
  ],
];

const rows = REFUSALS.map(([what, response, message, baseUrl]) => ({ what, response, message, baseUrl }));

test.each(rows)("a refusal: $what", async ({ response, message, baseUrl }) => {
  const error = await list(response, baseUrl === undefined ? {} : { baseUrl });
  expect(error.message).toBe(`projects.list: ${message}`);
});

/** Successes that do not fit, and the issues of the message. */
const DRIFT: readonly (readonly [what: string, body: unknown, issues: string])[] = [
  ["numeric ids", { data: [{ id: 5, name: "a" }], next_cursor: null }, "data.0.id: must be a string, got a number"],
  [
    "no next_cursor",
    { data: [] },
    "next_cursor: must be a non-empty string of well-formed Unicode, or null at the end of the list, got nothing",
  ],
  ["items", { items: [], next_cursor: null }, "data: must be an array, got nothing"],
  ["a bare array", [], "body: must be an object, got an array"],
];

test.each(DRIFT)("a success with %s says what came in the place of what", async (_, body, issues) => {
  const { message } = await list(json(body));
  const shape = "projects.list: 200, but the response is not of the expected shape";
  expect(message).toBe(`${shape}: ${issues}; ${DOCTOR}`);
});

test("a success that is a page names the doctor", async () => {
  const { message } = await list(html(200));
  expect(message).toBe(`projects.list: 200 with a body that is not JSON, text/html, ${NOT_OURS}`);
});

test("a schema of the caller's is no matter of the doctor", async () => {
  wire.reply(() => json({ a: 1 }));
  const schema = {
    "~standard": { version: 1, vendor: "own", validate: () => ({ issues: [{ message: "no" }] }) },
  } as const;
  const error = await rejection(wire.client().request({ method: "GET", path: path`/x`, schema }));
  expect((error as Error).message).toBe("GET /x: 200, but the response is not of the expected shape: body: no");
});

describe("a redirect", () => {
  const target = "https://other.example/login";

  test("says where to in location, in toJSON and in the message", async () => {
    const error = (await list(to(302, `${target}?session=1`))) as RedirectError;
    expect(error.location).toBe(target);
    expect(error.toJSON()).toMatchObject({ kind: "redirect", location: target });
    expect(await list(to(302))).not.toHaveProperty("location");
  });

  test("shows no token that its address holds", async () => {
    const error = await list(to(302, `https://other.example/${TOKEN}/x`));
    expect((error as RedirectError).location).toBe("https://other.example/[redacted]/x");
    expectClean(error, [TOKEN]);
  });
});

describe("advice that depends on the token", () => {
  test.each([
    ["tok_1", true],
    ["opaque", true],
    [TOKEN, false],
  ])("a 401 of %s: it may be an id, %s", async (token, isOdd) => {
    const { message } = await list(json({ error: "unauthorized" }, 401), { token });
    expect(message).toBe(
      `projects.list: 401 unauthorized${isOdd ? "; the token does not have the form PREFIX_KEY_SECRET: it may be the id of a token, or cut off" : ""}`,
    );
  });

  test.each<[readonly string[], object, string]>([
    [
      ["project:read", "x"],
      { error: "no_scope", message: "no" },
      '403 no_scope: no; not in SCOPES: "project:read", "x"; did you mean "projects:read"?',
    ],
    [["x"], { error: "no_scope" }, '403 no_scope; not in SCOPES: "x"'],
    [["issues:write"], { error: "no_scope" }, "403 no_scope; a token can have only scopes that its creator holds"],
    [
      ["issues:write"],
      { error: "no_scope", message: "a token can hold no more" },
      "403 no_scope: a token can hold no more",
    ],
  ])(
    "a creation of a token with %j is refused: it names unknown scopes, and says nothing twice",
    async (scopes, body, said) => {
      wire.reply(() => json(body, 403));
      const error = await rejection(wire.client().tokens.create({ name: "n", scopes: scopes as never }));
      expect((error as Error).message).toBe(`tokens.create: ${said}`);
    },
  );
});

test("markup is no sentence", async () => {
  for (const message of ["<p>no", "a<br>b", '<a href="x">y', "<!doctype html>", "x</b>", "<script>", "<h1 >"]) {
    expect(await list(json({ message }, 400))).not.toHaveProperty("detail");
  }
});
