import { describe, expect, test } from "vitest";
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

describe("a deployment that breaks the contract is found, and the breach is named", () => {
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
      { "rate-limit-everywhere": "2 of 20 without them (200 of GET /sessions/{id})" },
    ],
    [
      "a rate limit that is a word",
      { fault: { headers: { "ratelimit-limit": "plenty" } } },
      { "rate-limit-headers": expect.stringMatching(/^not numbers: plenty; \d+ left$/) as string },
    ],
    [
      "a redirect to a login page",
      { fault: { status: 302, headers: { location: "https://login.example.com/sign-in?state=secret" } } },
      {
        "projects-list": "a redirect: 302 to login.example.com/sign-in",
        "refusal-missing-token": "a redirect: 302 to login.example.com/sign-in",
        "refusal-unknown-token": "a redirect: 302 to login.example.com/sign-in",
      },
    ],
    [
      "HTML with 200",
      { fault: { status: 200, ...html } },
      {
        "projects-list": "200 text/html, not a list",
        "content-type": "text/html, not JSON",
        "refusal-missing-token": "accepted: 200 text/html",
        "refusal-unknown-token": "accepted: 200 text/html",
      },
    ],
    [
      "errors without a code",
      {
        fault: { operation: "sessions.get", match: ({ path }) => path.includes("made-this-up"), status: 404, ...html },
      },
      { "refusal-unknown-session": "404 text/html, without an error code" },
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
      { "session-get": "200 without a valid id" },
    ],
    [
      "projects that cannot be addressed by name",
      {
        fault: {
          operation: "sessions.list",
          match: ({ path }) => path.startsWith("/projects/project-1/"),
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
      "a clock that is a minute and a half behind",
      { options: { conventions: { clockOffsetMs: -90_000 } } },
      { clock: "90 s behind this machine's" },
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
          operation: "tokens.revoke",
          status: 204,
        },
      },
      { "refusal-revoked-token": "as before: 403 forbidden" },
    ],
  ])("%s", async (_, deployment, contradictions) => {
    expect(await contradictionsOf(deployment)).toEqual(contradictions);
  });

  test("another version segment than the contract's", async () => {
    expect(await contradictionsOf({ options: { conventions: { basePath: "/api/v2" } } })).toEqual({
      "version-segment": "/api/v2",
    });
  });

  test.each([
    ["/api/v2", "/api/v1", "the service is at /api/v2"],
    ["/api/v1", "", "the service is at /api/v1"],
    ["/api/v1", "/api/v3", "the service is at /api/v1"],
  ])("a service at %s that is looked for at '%s'", async (basePath, given, seen) => {
    await using service = await startEmulator({ conventions: { basePath } });
    const { contradictions, question } = await examine({
      baseUrl: new URL(service.baseUrl).origin + given,
      token: service.token,
    });
    expect(contradictions).toMatchObject({ "projects-list": "404 not_found", elsewhere: seen });
    expect(question("limit").seen).toBe("GET /projects was answered 404 not_found");
  });

  test("a self-signed certificate, and the token is not sent", async () => {
    await using server = await rawServer([], { tls: true });
    const { contradictions, report, question } = await examine({ ...server, token: "emu_key_secretsecret" });
    expect(contradictions).toEqual({ connection: "the certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)" });
    expect(report.requests).toBe(0);
    expect(server.requests).toEqual([]);
    expect(question("projects-list").seen).toBe("the certificate is self-signed, so the token is not sent");
  });
});

describe("what could not be asked is not guessed", () => {
  test("nobody listens", async () => {
    const { report } = await examine({ baseUrl: `http://127.0.0.1:${CLOSED_PORT}/api/v1`, token: "emu_key_secret" });
    expect(report.result).toBe("not_asked");
    expect(report.questions.filter(({ id }) => id === "connection" || id === "limit")).toMatchObject([
      { verdict: "not_asked", seen: "no response: ECONNREFUSED" },
      { verdict: "not_asked", seen: "no response: ECONNREFUSED" },
    ]);
  });

  test("the token is refused", async () => {
    await using service = await startEmulator();
    const { report, question } = await examine({ baseUrl: service.baseUrl, token: "emu_key_othersecret" });
    expect(report.result).toBe("not_asked");
    expect(question("end-of-list")).toMatchObject({
      verdict: "not_asked",
      seen: "the token is refused (401 unauthorized)",
    });
    expect(question("refusal-missing-token").verdict).toBe("agrees");
  });

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

  test("the service is failing", async () => {
    await using service = await startEmulator();
    service.emulator.fault({ times: Infinity, status: 503 });
    const { report, question } = await examine(service);
    expect(report.result).toBe("not_asked");
    expect(question("projects-list").seen).toBe("the service is failing: 503 service_unavailable");
  });
});
