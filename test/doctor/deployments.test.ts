import { describe, expect, test } from "vitest";
import { BadRequestError, Client, PermissionDeniedError, ResponseValidationError } from "../../src/client/index.ts";
import type { Fault, JsonBody } from "../../src/testing/index.ts";
import { type StartOptions, startEmulator } from "../../src/testing/node.ts";
import { CLOSED_PORT, rawServer } from "../support/raw-server.ts";
import { examine, virtualClock } from "./examine.ts";

interface Deployment {
  readonly options?: StartOptions;
  readonly fault?: Fault;
  readonly write?: boolean;
}

const ALWAYS = { times: Infinity };
const html = { body: "<html><title>Sign in</title></html>", headers: { "content-type": "text/html" } };

async function contradictionsOf({ options = {}, fault, write = false }: Deployment): Promise<Record<string, string>> {
  const clock = virtualClock();
  await using service = await startEmulator({ now: clock.now, ...options });
  if (fault !== undefined) service.emulator.fault({ ...ALWAYS, ...fault });
  const { contradictions, report } = await examine(service, { clock, write });
  expect(report.result).toBe(Object.keys(contradictions).length === 0 ? "agrees" : "contradicts");
  return contradictions;
}

function without(field: string, records: unknown): unknown[] {
  const rows = records as JsonBody[]; // the emulator's own page
  return rows.map(({ [field]: _, ...rest }) => rest);
}

describe("a deployment that breaks the API documentation is found, and the breach is named", () => {
  test.each<[string, Deployment, Record<string, string>]>([
    [
      "no cursor at the end of a list",
      { options: { conventions: { endOfList: "missing" } } },
      { "end-of-list": "no next_cursor" },
    ],
    [
      "an empty cursor at the end of a list",
      { options: { conventions: { endOfList: "empty" } } },
      { "end-of-list": 'an empty string ("")' },
    ],
    [
      "a cursor that is a number",
      { fault: { operation: "projects.list", transform: (body) => ({ ...body, next_cursor: 7 }) } },
      { "end-of-list": "next_cursor is a number", limit: "1 item and no cursor, though there are 3 projects" },
    ],
    [
      "a cursor that leads back to its own page",
      { fault: { operation: "projects.list", page: "loop" } },
      { "second-page": "the same cursor again: the walk would never end" },
    ],
    [
      "limits that are refused",
      { options: { conventions: { limitTooSmall: "refuse", limitTooLarge: "refuse" } } },
      { "limit-zero": "refused: 422 invalid_request", "limit-above": "refused: 422 invalid_request" },
    ],
    [
      "a limit that is not heeded",
      {
        fault: {
          operation: "projects.list",
          match: ({ query }) => query["limit"] !== undefined && query["cursor"] === undefined,
          transform: (body) => ({
            ...body,
            data: [
              { id: "a", name: "a" },
              { id: "b", name: "b" },
            ],
          }),
        },
      },
      { "limit-zero": "2 items: not clamped", limit: "2 items" },
    ],
    [
      "a 429 without Retry-After",
      { options: { rateLimit: { limit: 12 }, conventions: { retryAfter: null } } },
      { "retry-after": "429 without Retry-After" },
    ],
    [
      "a Retry-After that is a date",
      { options: { rateLimit: { limit: 12 }, conventions: { retryAfter: "date" } } },
      { "retry-after": expect.stringMatching(/GMT: not seconds$/) as string },
    ],
    [
      "a Retry-After that nothing can be made of",
      { options: { rateLimit: { limit: 12 } }, fault: { headers: { "retry-after": "soon" } } },
      { "retry-after": "Retry-After is not valid: soon" },
    ],
    [
      "a 429 with another code",
      {
        fault: {
          ...ALWAYS,
          times: 1,
          skip: 3,
          status: 429,
          body: { error: "slow_down" },
          headers: { "retry-after": "1" },
        },
      },
      { "retry-after": "429 slow_down, Retry-After: 1: another error code" },
    ],
    [
      "no rate limit headers",
      { options: { conventions: { rateLimitHeaders: { limit: null, remaining: null } } } },
      {
        "rate-limit-headers": "no RateLimit-Limit, no RateLimit-Remaining",
        "rate-limit-everywhere": expect.stringContaining("without them (401 of GET /projects)") as string,
      },
    ],
    [
      "rate limit headers under other names",
      {
        options: {
          conventions: { rateLimitHeaders: { limit: "X-RateLimit-Limit", remaining: "X-RateLimit-Remaining" } },
        },
      },
      { "rate-limit-headers": "under other names: x-ratelimit-limit, x-ratelimit-remaining" },
    ],
    [
      "rate limit headers that are missing from some responses",
      { fault: { match: ({ path }) => path.startsWith("/sessions/"), headers: { "ratelimit-remaining": null } } },
      { "rate-limit-everywhere": "4 of 22 without them (200 of GET /sessions/{id})" },
    ],
    [
      "errors without a code",
      {
        fault: {
          operation: "sessions.get",
          match: ({ path }) => path.includes("made-this-up"),
          status: 404,
          body: { error: {} },
        },
      },
      { "refusal-unknown-session": "404, without an error code" },
    ],
    [
      "a list of another status",
      { options: { conventions: { successStatus: { "projects.list": 206 } } } },
      { "projects-list": "206, a list" },
    ],
    [
      "projects without id",
      { fault: { operation: "projects.list", transform: (body) => ({ ...body, data: without("id", body["data"]) }) } },
      { "record-project": "3 of 3 without a valid id" },
    ],
    [
      "sessions without state",
      {
        fault: { operation: "sessions.list", transform: (body) => ({ ...body, data: without("state", body["data"]) }) },
      },
      { "record-session": "3 of 3 without a valid state" },
    ],
    [
      "a session of another shape",
      {
        fault: {
          operation: "sessions.get",
          match: ({ path }) => !path.includes("made-this-up"),
          body: { session: {} },
        },
      },
      { "session-get": "200, without a valid id, without a valid state" },
    ],
    [
      "projects that cannot be addressed by name",
      {
        fault: {
          operation: "sessions.list",
          match: ({ path }) => path.startsWith("/projects/web/"),
          status: 404,
          body: { error: "not_found" },
        },
      },
      { "project-by-name": "404 not_found" },
    ],
    [
      "a wrong token that is let in",
      { fault: { match: ({ token }) => token === undefined, status: 200, body: { data: [], next_cursor: null } } },
      { "refusal-missing-token": "accepted: 200", "refusal-unknown-token": "accepted: 200" },
    ],
    [
      "a clock that is minutes ahead",
      { options: { conventions: { clockOffsetMs: 300_000 } } },
      { clock: "5 minutes ahead of this machine's" },
    ],
    [
      "a list of tokens with their plaintext",
      {
        fault: {
          match: ({ path }) => path === "/me/tokens",
          status: 200,
          body: { data: [{ id: "tok_1", plaintext: "emu_key_secretsecret" }], next_cursor: null },
        },
      },
      { "plaintext-again": "a token is in the response to GET /me/tokens" },
    ],
    [
      "a plaintext that comes again with the revocation",
      {
        write: true,
        options: { conventions: { successStatus: { "tokens.revoke": 200 } } },
        fault: { operation: "tokens.revoke", transform: (body) => ({ ...body, plaintext: "emu_key_secretsecret" }) },
      },
      { "plaintext-again": "a token is in the response to DELETE /me/tokens/{id}" },
    ],
    [
      "a token that works after its revocation",
      {
        write: true,
        fault: {
          match: ({ url, token, headers }) =>
            url.endsWith("/projects") && token !== undefined && headers["origin"] === undefined,
          skip: 1, // the deployment's own token asks first
          status: 200,
          body: { data: [], next_cursor: null },
        },
      },
      { "refusal-missing-scope": "accepted: 200", "refusal-revoked-token": "accepted: 200" },
    ],
  ])("%s", async (_, deployment, contradictions) => {
    expect(await contradictionsOf(deployment)).toEqual(contradictions);
  });

  test("another version segment than the API documentation's", async () => {
    expect(await contradictionsOf({ options: { conventions: { basePath: "/api/v2" } } })).toEqual({
      "version-segment": "/api/v2",
    });
  });
});

describe("a deployment that cannot be asked is told in a sentence, and nothing else is asked", () => {
  const answering = (body: unknown): Fault => ({ status: 200, body });
  test.each<[string, Fault, string]>([
    ["a web page", { status: 200, ...html }, "this is not the service: GET /projects answered 200 text/html"],
    [
      "a sign-in page",
      { status: 302, headers: { location: "https://login.example.com/sign-in?state=secret" } },
      "this is not the service: GET /projects answered 302 to login.example.com/sign-in",
    ],
    [
      "another JSON",
      answering({ hello: "world" }),
      "this is not the service: GET /projects answered 200 with JSON that is no list (data, next_cursor)",
    ],
    [
      "an array",
      answering([1, 2]),
      "this is not the service: GET /projects answered 200 with JSON that is no list (data, next_cursor)",
    ],
    ["nothing", { status: 204 }, "this is not the service: GET /projects answered 204 without a body"],
    ["a 404 page", { status: 404, ...html }, "this is not the service: GET /projects answered 404 text/html"],
    ["a teapot", { status: 418 }, "this is not the service: GET /projects answered 418 status_418"],
    ["an outage", { status: 503 }, "the service is failing: GET /projects answered 503 service_unavailable"],
    [
      "a 403 for every token",
      { status: 403 },
      "the token is not accepted, or may not list projects: GET /projects answered 403 forbidden, as to a token that does not exist",
    ],
    [
      "a 403 of a gateway",
      { status: 403, ...html },
      "a gateway or firewall refuses the request: GET /projects answered 403 text/html, not JSON; the body of the client's error has its text",
    ],
    [
      "a rate limit without end",
      { status: 429, headers: { "retry-after": "3600" } },
      "the rate limit refuses every request; the last one asked to wait 3600 s",
    ],
  ])("%s", async (_, fault, verdict) => {
    await using service = await startEmulator();
    service.emulator.fault({ ...ALWAYS, ...fault });
    const { report } = await examine(service, { write: true });
    expect(report).toMatchObject({ result: "not_asked", verdict, questions: [], tokenLeftBehind: false });
    expect(service.emulator.requests.length).toBeLessThanOrEqual(4);
    expect(service.emulator.requests.every(({ method }) => method === "GET")).toBe(true);
  });

  test("a token that is not known, and one that may not list projects", async () => {
    await using service = await startEmulator();
    const { plaintext } = service.emulator.createToken({ scopes: ["issues:write"] });
    const verdicts = [];
    for (const token of ["emu_key_othersecret", plaintext]) {
      verdicts.push((await examine({ baseUrl: service.baseUrl, token })).report.verdict);
    }
    expect(verdicts).toEqual([
      "the token is not accepted: GET /projects answered 401 unauthorized",
      "the token may not list projects: GET /projects answered 403 forbidden; it needs the scope projects:read",
    ]);
  });

  test.each([
    ["/api/v2", "/api/v1", "the service is at /api/v2, not at /api/v1: GET /projects answered 404 not_found"],
    ["/api/v1", "", "the service is at /api/v1, not at /: GET /projects answered 404 not_found"],
    ["/api/v1", "/api/v3", "the service is at /api/v1, not at /api/v3: GET /projects answered 404 not_found"],
    [
      "/api/v1",
      "/elsewhere",
      "this is not the service: GET /projects answered 404 not_found; the address may lack its version segment, such as /api/v1",
    ],
  ])("a service at %s that is looked for at '%s'", async (basePath, given, verdict) => {
    await using service = await startEmulator({ conventions: { basePath } });
    const baseUrl = new URL(service.baseUrl).origin + given;
    expect((await examine({ baseUrl, token: service.token })).report).toMatchObject({ result: "not_asked", verdict });
  });

  test("a self-signed certificate, and the token is not sent", async () => {
    await using server = await rawServer([], { tls: true });
    const { report } = await examine({ ...server, token: "emu_key_secretsecret" });
    const verdict =
      "no trusted connection: the certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT), so the token is not sent";
    expect(report).toMatchObject({ result: "not_asked", requests: 0, verdict });
    expect(server.requests).toEqual([]);
  });

  test("nobody listens", async () => {
    const baseUrl = `http://127.0.0.1:${CLOSED_PORT}/api/v1`;
    const { report } = await examine({ baseUrl, token: "emu_key_secret" });
    const verdict = `no connection: connect ECONNREFUSED 127.0.0.1:${CLOSED_PORT}`;
    expect(report).toMatchObject({ result: "not_asked", verdict, questions: [] });
  });
});

describe("what was not understood is taken neither for a yes nor for a no", () => {
  test.each<[string, Fault, Record<string, string>]>([
    [
      "sessions that are a web page",
      { operation: "sessions.list", status: 200, ...html },
      { "scope-sessions-read": "not_asked", "sessions-list": "not_asked", "record-session": "not_asked" },
    ],
    [
      "sessions that are another JSON",
      { operation: "sessions.list", body: { hello: "world" } },
      { "scope-sessions-read": "not_asked", "sessions-list": "contradicts", "project-by-name": "not_asked" },
    ],
    [
      "issues that are failing",
      { match: ({ path }) => path.endsWith("/issues"), status: 500 },
      { "issues-list": "not_asked", "scope-issues-read": "not_asked" },
    ],
    [
      "tokens that are a web page",
      { match: ({ path }) => path === "/me/tokens", status: 200, ...html },
      { "tokens-list": "not_asked" },
    ],
    [
      "sessions that are never answered",
      { operation: ["sessions.list", "sessions.get"], drop: "before" },
      { "sessions-list": "not_asked", "scope-sessions-read": "not_asked", "session-get": "not_asked" },
    ],
    ["a session that is never answered", { operation: "sessions.get", drop: "before" }, { "session-get": "not_asked" }],
    [
      "sessions that fail",
      { operation: "sessions.list", status: 500 },
      { "sessions-list": "not_asked", "session-get": "not_asked" },
    ],
    [
      "a limit that fails",
      { match: ({ query }) => query["limit"] === "201", status: 503 },
      { "limit-above": "not_asked" },
    ],
    [
      "a page in place of each refusal of a token",
      { match: ({ token }) => token === undefined, status: 403, ...html },
      { "refusal-missing-token": "not_asked", "refusal-unknown-token": "not_asked", connection: "agrees" },
    ],
    [
      "an answer without a token that fails",
      { match: ({ token }) => token === undefined, status: 503 },
      { "refusal-missing-token": "not_asked", "fields-error": "not_asked", connection: "agrees" },
    ],
    [
      "a gateway that fails, without the headers of the service",
      {
        match: ({ path }) => path.startsWith("/sessions/"),
        status: 502,
        body: html.body,
        headers: { ...html.headers, "ratelimit-limit": null },
      },
      { "rate-limit-everywhere": "agrees", "refusal-unknown-session": "not_asked", "encoded-slash": "not_asked" },
    ],
    [
      "projects that are no objects",
      { operation: "projects.list", transform: (body) => ({ ...body, data: [1] }) },
      { "record-project": "contradicts" },
    ],
  ])("%s", async (_, fault, verdicts) => {
    await using service = await startEmulator({ projects: 1 });
    service.emulator.fault({ ...ALWAYS, ...fault });
    const { question } = await examine(service);
    for (const [id, verdict] of Object.entries(verdicts)) expect([id, question(id).verdict]).toEqual([id, verdict]);
  });

  test("what is wrong with records is said in English", async () => {
    await using service = await startEmulator({ projects: 1 });
    service.emulator.fault({ ...ALWAYS, operation: "projects.list", transform: (body) => ({ ...body, data: [1] }) });
    expect((await examine(service)).question("record-project").seen).toBe("1 of 1 not an object");
  });
});

describe("every finding says what follows for a program", () => {
  test.each<[string, Deployment, Record<string, string>]>([
    [
      "a last page without next_cursor",
      { options: { conventions: { endOfList: "missing" } } },
      {
        "end-of-list":
          "every list() rejects with ResponseValidationError at its last page, with validation: lenient too",
      },
    ],
    [
      "a wrong token that is a 403, a missing session that is a 410",
      {
        options: {
          conventions: { refusals: { unknownToken: { status: 403 }, unknownSession: { status: 410, code: "gone" } } },
        },
      },
      {
        "refusal-unknown-token":
          "the call rejects with PermissionDeniedError, not AuthenticationError; a token provider is not asked for another token",
        "refusal-unknown-session": "the call rejects with ApiError, not NotFoundError",
      },
    ],
    [
      "a limit that is refused",
      { options: { conventions: { limitTooLarge: "refuse" } } },
      { "limit-above": "list({ limit: 201 }) rejects with BadRequestError" },
    ],
    [
      "another code of the same class",
      { options: { conventions: { refusals: { unknownProject: { code: "no_project" } } } } },
      {
        "refusal-unknown-project":
          "only error.code or error.status is another: the class is NotFoundError all the same",
      },
    ],
  ])("%s", async (_, { options = {} }, consequences) => {
    const clock = virtualClock();
    await using service = await startEmulator({ now: clock.now, ...options });
    const { report } = await examine(service, { clock });
    expect(Object.fromEntries(report.questions.flatMap(({ id, so }) => (so ? [[id, so]] : [])))).toEqual(consequences);
  });

  test("an error without a code", async () => {
    await using service = await startEmulator();
    const match = ({ url }: { readonly url: string }): boolean => url.includes("made-this-up/sessions");
    service.emulator.fault({ ...ALWAYS, match, status: 404, body: { error: {} } });
    expect((await examine(service)).question("refusal-unknown-project").so).toBe(
      "error.code is missing: the class is NotFoundError all the same",
    );
  });

  test("and it is what the client does", async () => {
    await using service = await startEmulator({
      conventions: { endOfList: "missing", limitTooLarge: "refuse", refusals: { unknownToken: { status: 403 } } },
    });
    const client = new Client(service.clientOptions);
    const lists = [client, client.withOptions({ validation: "lenient" })].map((one) => one.projects.list().toArray());
    for (const list of lists) await expect(list).rejects.toBeInstanceOf(ResponseValidationError);
    await expect(client.projects.list({ limit: 201 }).page()).rejects.toBeInstanceOf(BadRequestError);
    const asked: (string | undefined)[] = [];
    const token = ({ rejected }: { readonly rejected?: string }): string => {
      asked.push(rejected);
      return "emu_key_othersecret";
    };
    await expect(client.withOptions({ token }).projects.list().page()).rejects.toBeInstanceOf(PermissionDeniedError);
    expect(asked).toEqual([undefined]);
  });
});

describe("what could not be asked is not guessed", () => {
  test("a scope is missing: what needs it is not asked, the rest is", async () => {
    await using service = await startEmulator();
    const { plaintext: token } = service.emulator.createToken({ scopes: ["projects:read"] });
    const { report, question, seed } = await examine({ baseUrl: service.baseUrl, token });
    expect(report.result).toBe("agrees");
    const lacks = "the token or its owner lacks sessions:read (403 forbidden)";
    for (const id of ["scope-sessions-read", "sessions-list", "session-get", "refusal-unknown-project"]) {
      expect(question(id)).toMatchObject({ verdict: "not_asked", seen: lacks });
    }
    expect(question("refusal-invalid-cursor").verdict).toBe("agrees");
    expect(seed.conventions.refusals).not.toHaveProperty("unknownProject");
  });

  test("there are no projects, or none with a session", async () => {
    await using none = await startEmulator({ projects: 0 });
    expect((await examine(none)).question("session-get").seen).toBe("the token sees no project to ask about");
    await using empty = await startEmulator({ projects: 5, sessionsPerProject: 0 });
    expect((await examine(empty)).question("session-get").seen).toBe("none of the first three projects has a session");
  });

  test("there are no projects, and an unknown session is asked for all the same", async () => {
    await using service = await startEmulator({ projects: 0 });
    expect((await examine(service)).question("refusal-unknown-session").verdict).toBe("agrees");
    // Then nobody knows whether a 403 is about the session or about the scope.
    const { plaintext: token } = service.emulator.createToken({ scopes: ["projects:read"] });
    expect((await examine({ ...service, token })).question("refusal-unknown-session")).toMatchObject({
      verdict: "not_asked",
      seen: "the token or its owner may lack sessions:read (403 forbidden)",
    });
  });

  test("ids that are numbers are a finding, and hide no other", async () => {
    const sessions = [{ id: "7", state: "running" }];
    await using service = await startEmulator({ projects: [{ id: "1", name: "web", sessions }] });
    const numbered = (record: object): object => ({ ...record, id: Number((record as { id: string }).id) }); // an id above
    service.emulator.fault({
      operation: ["projects.list", "sessions.list", "sessions.get"],
      times: Number.POSITIVE_INFINITY,
      transform: (body) =>
        Array.isArray(body["data"]) ? { ...body, data: body["data"].map(numbered) } : numbered(body),
    });
    const { contradictions, question } = await examine(service);
    expect(contradictions).toEqual({
      "record-project": "1 of 1 without a valid id",
      "record-session": "1 of 1 without a valid id",
      "session-get": "200, without a valid id",
    });
    for (const id of ["project-by-name", "sessions-list"]) expect(question(id).verdict).toBe("agrees");
  });

  test("a token whose id is a number is a finding, and is revoked", async () => {
    await using service = await startEmulator();
    service.emulator.fault({ operation: "tokens.create", transform: (body) => ({ ...body, id: 42 }) });
    const { question } = await examine(service, { write: true });
    expect(question("token-create")).toMatchObject({ verdict: "contradicts", seen: "201 with an id that is a number" });
    expect(service.emulator.requests.map(({ method, path }) => `${method} ${path}`)).toContain("DELETE /me/tokens/42");
  });

  test("an empty project does not hide the sessions of the next", async () => {
    await using service = await startEmulator({
      projects: [
        { name: "empty", sessions: [] },
        { name: "team/api", sessions: [{ state: "waiting" }] },
      ],
    });
    const { question, report } = await examine(service);
    expect(question("session-states").seen).toBe("waiting");
    expect(question("project-by-name").verdict).toBe("agrees");
    expect(report.result).toBe("agrees");
  });
});
