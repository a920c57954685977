import { describe, expect, test } from "vitest";
import { sendByNode } from "../../src/doctor/node/send.ts";
import type { Failure, Send, WireRequest, WireResponse } from "../../src/doctor/wire.ts";
import { createEmulator, type Emulator } from "../../src/testing/index.ts";
import { startEmulator } from "../../src/testing/node.ts";
import { examine, virtualClock } from "./examine.ts";

const ALWAYS = { times: Infinity };
const NAME = "project-automation-doctor";
/** Between any two requests. */
const PACE_MS = 200;

function writesOf({ requests }: Emulator): string[] {
  return requests.filter(({ method }) => method !== "GET").map(({ method, operation }) => `${method} ${operation}`);
}

function doctorsTokens({ tokens }: Emulator): { readonly state: string; readonly scopes: readonly string[] }[] {
  return tokens
    .list()
    .filter(({ name }) => name === NAME)
    .map(({ state, scopes }) => ({ state, scopes }));
}

/** The line of a run that is interrupted while a token may be there. */
function waitingFor(request: string): string {
  return `interrupted; waiting for the answer to ${request}, to revoke the token "${NAME}"; interrupt again to end at once, and the token may stay`;
}

describe("without --write", () => {
  test("only GETs are sent, one at a time, and each at most once", async () => {
    await using service = await startEmulator();
    let underWay = 0;
    let most = 0;
    const send: Send = async (request) => {
      underWay += 1;
      most = Math.max(most, underWay);
      const response = await sendByNode(request);
      underWay -= 1;
      return response;
    };
    const clock = virtualClock();
    const { report } = await examine(service, { send, clock });
    const { requests } = service.emulator;
    expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
    const sent = requests.map(({ url, headers }) => JSON.stringify([url, headers["authorization"], headers["origin"]]));
    expect(new Set(sent).size).toBe(sent.length);
    expect(report.requests).toBe(sent.length);
    expect(sent.length).toBeLessThan(30);
    expect(most).toBe(1);
    expect(clock.sleeps).toEqual(Array.from({ length: sent.length - 1 }, () => PACE_MS));
  });

  test("no token is created, and the report says so", async () => {
    await using service = await startEmulator();
    const { question } = await examine(service);
    expect(doctorsTokens(service.emulator)).toEqual([]);
    expect(question("token-create")).toMatchObject({ verdict: "not_asked", seen: "asked only with --write" });
  });
});

describe("with --write", () => {
  test("one token without scopes is created and revoked, and no issue", async () => {
    await using service = await startEmulator();
    const { report } = await examine(service, { write: true });
    expect(writesOf(service.emulator)).toEqual(["POST tokens.create", "DELETE tokens.revoke", "DELETE tokens.revoke"]);
    expect(doctorsTokens(service.emulator)).toEqual([{ state: "revoked", scopes: [] }]);
    expect(report).toMatchObject({ result: "agrees", tokenLeftBehind: false });
  });

  test("it is revoked although the run is interrupted", async () => {
    await using service = await startEmulator();
    const interruption = new AbortController();
    const send: Send = async (request) => {
      const response = await sendByNode(request);
      if (request.method === "POST") interruption.abort();
      return response;
    };
    const { report, question, notices } = await examine(service, { write: true, send, signal: interruption.signal });
    expect(doctorsTokens(service.emulator)).toEqual([{ state: "revoked", scopes: [] }]);
    expect(writesOf(service.emulator)).toEqual(["POST tokens.create", "DELETE tokens.revoke"]);
    expect(question("refusal-missing-scope").seen).toBe("the run was interrupted");
    expect(report).toMatchObject({ result: "not_asked", tokenLeftBehind: false });
    expect(notices).toEqual([waitingFor("POST /me/tokens")]);
  });

  test("its revocation is tried again when it fails", async () => {
    await using service = await startEmulator();
    service.emulator.fault({ operation: "tokens.revoke", drop: "before", times: 2 });
    const { report } = await examine(service, { write: true });
    expect(doctorsTokens(service.emulator)).toEqual([{ state: "revoked", scopes: [] }]);
    expect(report.result).toBe("agrees");
  });

  test("a token that cannot be revoked is left behind, and told", async () => {
    await using service = await startEmulator();
    service.emulator.fault({ ...ALWAYS, operation: "tokens.revoke", status: 500 });
    const { report } = await examine(service, { write: true });
    expect(report).toMatchObject({ result: "agrees", tokenLeftBehind: true });
  });

  test("a creation without a response is not repeated, and told", async () => {
    await using service = await startEmulator();
    service.emulator.fault({ operation: "tokens.create", drop: "after" });
    const { report, question } = await examine(service, { write: true });
    expect(writesOf(service.emulator)).toEqual(["POST tokens.create"]);
    expect(question("token-create")).toMatchObject({ verdict: "not_asked", seen: "no response: ECONNRESET" });
    expect(report).toMatchObject({ result: "agrees", tokenLeftBehind: true });
  });

  test("a token that is refused alike before its revocation is not said to go on working", async () => {
    const refusal = { status: 403, code: "forbidden" };
    const refusals = { missingToken: refusal, unknownToken: refusal, missingScope: refusal, revokedToken: refusal };
    await using service = await startEmulator({ conventions: { refusals } });
    const { contradictions, question } = await examine(service, { write: true });
    expect(contradictions).toEqual({});
    expect(question("refusal-revoked-token")).toMatchObject({ verdict: "differs", seen: "403 forbidden" });
  });

  test.each([302, 408, 500])("a creation that ends with %d may have been done, and that is told", async (status) => {
    await using service = await startEmulator();
    service.emulator.fault({ operation: "tokens.create", status, apply: true });
    const { report } = await examine(service, { write: true });
    expect(doctorsTokens(service.emulator)).toEqual([{ state: "active", scopes: [] }]);
    expect(report).toMatchObject({ result: status === 408 ? "contradicts" : "agrees", tokenLeftBehind: true });
  });
});

describe("the rate limit", () => {
  test("a 429 is waited out, for as long as it asks, and the request is sent again", async () => {
    const clock = virtualClock();
    await using service = await startEmulator({ now: clock.now, rateLimit: { limit: 9, windowMs: 45_000 } });
    const { report, question, notices } = await examine(service, { clock });
    expect(report.result).toBe("agrees");
    expect(question("retry-after").seen).toMatch(/^429 too_many_requests, Retry-After: 4\d$/);
    const refused = service.emulator.requests.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    for (const { url, endedAt = 0, index } of refused) {
      const next = service.emulator.requests[index + 1];
      expect(next?.url).toBe(url);
      expect(next?.status).not.toBe(429);
      expect((next?.at ?? 0) - endedAt).toBeGreaterThanOrEqual(40_000);
    }
    expect(notices).toContainEqual(expect.stringMatching(/: the rate limit is reached; waiting 4\d s$/));
  });

  test("without a Retry-After, a window of the API documentation is waited", async () => {
    const clock = virtualClock();
    const conventions = { retryAfter: null };
    await using service = await startEmulator({ now: clock.now, rateLimit: { limit: 9 }, conventions });
    await examine(service, { clock });
    expect(Math.max(...clock.sleeps)).toBe(60_000);
  });

  test.each([
    ["asks for an hour", { "retry-after": "3600" }, 1],
    ["never ends", { "retry-after": "7" }, 4],
  ])("one that %s ends the questions", async (_, headers, refusals) => {
    const clock = virtualClock();
    await using service = await startEmulator({ now: clock.now });
    service.emulator.fault({ ...ALWAYS, skip: 5, status: 429, body: { error: "too_many_requests" }, headers });
    const { report, question } = await examine(service, { clock });
    const { requests } = service.emulator;
    expect(requests.filter(({ status }) => status === 429)).toHaveLength(refusals);
    expect(requests).toHaveLength(5 + refusals);
    expect(question("refusal-wrong-method").seen).toMatch(/^the rate limit refuses every request; the last one asked/);
    expect(report).toMatchObject({
      result: "not_asked",
      verdict: expect.stringMatching(/^the rate limit refuses every request; .* wait \d+ s; nothing differs/),
    });
  });
});

test("a hiccup is no finding: a failed GET is asked once more", async () => {
  await using service = await startEmulator();
  service.emulator.fault({ operation: "projects.list", skip: 2, status: 503 });
  service.emulator.fault({ operation: "sessions.get", drop: "before" });
  expect((await examine(service)).report.result).toBe("agrees");
});

describe("a service that goes while it is asked", () => {
  const replied = (status: number): WireResponse => {
    const headers = new Headers({ "content-type": "text/html" });
    return { kind: "response", status, headers, text: "<h1>Back soon</h1>" };
  };
  const refused: Failure = { kind: "failure", code: "ECONNREFUSED", message: "connect ECONNREFUSED", isSent: false };
  const WAYS: readonly (readonly [string, WireResponse | Failure, string])[] = [
    ["a maintenance page with 503", replied(503), "503 text/html"],
    ["a maintenance page with 200", replied(200), "200 text/html"],
    ["a port that is closed", refused, "no response (ECONNREFUSED)"],
  ];
  test.each(WAYS.flatMap(([way, ...end]) => [3, 8, 15].map((after) => [`${way} after ${after}`, after, end] as const)))(
    "%s requests is no finding",
    async (_, after, [answer, said]) => {
      await using service = await startEmulator();
      let asked = 0;
      const send: Send = async (request) => (++asked > after ? answer : sendByNode(request));
      const { report, contradictions, isComplete } = await examine(service, { send });
      expect(contradictions).toEqual({});
      expect(report).toMatchObject({ result: "not_asked", requests: after });
      expect(report.verdict).toContain(`the service has gone during the run: GET /projects now gets ${said}; `);
      expect([isComplete, asked <= after + 4]).toEqual([false, true]);
    },
  );
});

test("a wrong token has the form of the real one, and a request says who sends it", async () => {
  const { token, fetch } = createEmulator({ tokenPrefix: "acme" });
  const sent: WireRequest[] = [];
  const send: Send = async (request) => {
    sent.push(request);
    const { url, body, ...init } = request;
    const response = await fetch(url, { ...init, body: body ?? null });
    return { kind: "response", status: response.status, headers: response.headers, text: await response.text() };
  };
  await examine({ baseUrl: "https://emulator.invalid/api/v1", token }, { send });
  const tokens = new Set(sent.map(({ headers }) => headers["authorization"]?.replace("Bearer ", "")));
  expect([...tokens].filter((one) => one !== token)).toEqual([undefined, expect.stringMatching(/^acme_0{16}_0{32}$/)]);
  expect(new Set(sent.map(({ headers }) => headers["user-agent"]))).toEqual(
    new Set([expect.stringMatching(/^project-automation-doctor\/\d/)]),
  );
});
