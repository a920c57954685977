/** The `outcome` of an error: whether the service may have processed the call. */
import { describe, expect, test, vi } from "vitest";
import {
  type AnyAutomationError,
  type Client,
  type ClientEvent,
  isAutomationError,
  type Outcome,
} from "../../../../src/client/index.ts";
import { DEFAULT_RETRY } from "../../../../src/core/call/settings.ts";
import { createIssue, revoke, rotate } from "../../../support/calls.ts";
import { ended, fakeTime } from "../../../support/fake-time.ts";
import {
  bodyThat,
  connectionLost,
  never,
  notConnected,
  type Reply,
  responds,
  tooMany,
} from "../../../support/replies.ts";
import { RULES, type Rule } from "../../../support/retry-table.ts";
import { repeatingLast, scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

const CREATED =
  '{"id":"tok_1","name":"ci","key_id":"K1","scopes":[],"plaintext":"emu_K1_onlyonce","expires_at":"2027-01-01T00:00:00Z"';

async function failing(
  replies: readonly Reply[],
  call: (client: Client) => Promise<unknown>,
  options = {},
): Promise<AnyAutomationError> {
  const { error } = await ended(
    call(scriptedFetch(repeatingLast(...replies)).client({ timeoutMs: 1_000, ...options })),
  );
  if (!isAutomationError(error)) throw error;
  return error;
}

const createToken = (client: Client): Promise<unknown> => client.tokens.create({ name: "ci", scopes: [] });

describe("a DELETE that the platform may have sent before", () => {
  const on = (userAgent: string) => ({ navigator: { userAgent } });

  test.each([
    { where: "in a browser", globals: on("Mozilla/5.0 (X11; Linux x86_64)"), priorAmbiguous: true },
    { where: "on workerd", globals: on("Cloudflare-Workers"), priorAmbiguous: true },
    { where: "on Deno", globals: on("Deno/2.9.6"), priorAmbiguous: undefined },
    {
      where: "on Deno, through a client",
      globals: on("Deno/2.9.6"),
      priorAmbiguous: true,
      fetchOptions: { client: {} },
    },
    { where: "on Bun", globals: on("Bun/1.4.5"), priorAmbiguous: undefined },
    { where: "on Node", globals: on("Node.js/24"), priorAmbiguous: undefined },
    {
      where: "on Node, with Deno's option",
      globals: on("Node.js/24"),
      priorAmbiguous: undefined,
      fetchOptions: { client: {} },
    },
  ])("$where: $priorAmbiguous", async ({ globals, priorAmbiguous, fetchOptions }) => {
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
    try {
      const error = await failing([responds(404)], revoke, { fetchOptions });
      expect([error.attempts, error.outcome, error.priorAmbiguous]).toEqual([
        1,
        priorAmbiguous ? "unknown" : "rejected",
        priorAmbiguous,
      ]);
      const write = await failing([responds(422)], createIssue, { fetchOptions });
      expect([write.outcome, write.priorAmbiguous]).toEqual(["rejected", undefined]);
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

describe("a DELETE that was retried after it may have been applied", () => {
  test.each([
    [404, "not_found"],
    [401, "auth"],
    [403, "permission"],
    [410, "api"],
  ] as const)("%i reports priorAmbiguous", async (code, kind) => {
    for (const ambiguous of [
      connectionLost,
      responds(500),
      responds(503, { "retry-after": "1" }),
      responds(408),
      never,
    ]) {
      const error = await failing([ambiguous, responds(code)], revoke);
      expect(error).toMatchObject({ kind, priorAmbiguous: true, attempts: 2, outcome: "unknown" });
    }
  });

  test.each([
    ["at the first attempt", [responds(404)]],
    ["after a 429", [tooMany(1), responds(404)]],
    ["after a connection that was never made", [notConnected, responds(404)]],
  ] as const)("not so %s", async (_, replies) => {
    expect(await failing(replies, revoke)).not.toHaveProperty("priorAmbiguous");
  });

  test("not so for a GET", async () => {
    expect(await failing([connectionLost, responds(404)], (client) => client.sessions.get("1"))).not.toHaveProperty(
      "priorAmbiguous",
    );
  });

  test("no connection after a lost one: still unknown", async () => {
    expect(await failing([connectionLost, notConnected], revoke)).toMatchObject({
      outcome: "unknown",
      attempts: DEFAULT_RETRY.attempts,
      priorAmbiguous: true,
    });
  });

  test("totalTimeoutMs during the backoff: still unknown", async () => {
    const error = await failing([connectionLost], revoke, { totalTimeoutMs: 200, retry: { minDelayMs: 5_000 } });
    expect(error).toMatchObject({ kind: "timeout", phase: "total", outcome: "unknown", cause: { kind: "connection" } });
  });
});

test("a read that was handed to fetch has no outcome, also where no connection was made", async () => {
  const get = (client: Client): Promise<unknown> => client.sessions.get("1");
  const options = { totalTimeoutMs: 200, retry: { minDelayMs: 5_000 } };
  const error = await failing([bodyThat("breaks")], get, options);
  expect([error.kind, error.outcome]).toEqual(["timeout", undefined]);
  expect((await failing([notConnected], get)).outcome).toBeUndefined();
});

describe("a write that may have been applied says so in its message", () => {
  test.each([
    ["issues.create", createIssue],
    ["tokens.create", createToken],
    ["tokens.revoke", revoke],
  ] as const)("%s", async (_, call) => {
    const error = await failing([responds(500)], call);
    expect(error.outcome).toBe("unknown");
    expect(error.message).toMatch(/may have been applied.*check before sending it again$/);
  });

  test("rotate: the old token may be dead", async () => {
    for (const reply of [connectionLost, responds(500), never]) {
      const error = await failing([reply], rotate);
      expect(error).toMatchObject({ outcome: "unknown", attempts: 1 });
      expect(error.message).toMatch(/old token may be dead/);
    }
  });

  test("the message of a GET does not", async () => {
    const error = await failing([responds(500)], (client) => client.sessions.get("1"));
    expect(error.message).not.toMatch(/applied/);
  });
});

describe("the error keeps the body of a 2xx", () => {
  const calls = [
    ["tokens.create", createToken],
    ["tokens.rotate", rotate],
  ] as const;
  const broken: readonly [string, Reply, Rule][] = [
    ["cut off", bodyThat("breaks", CREATED, 201), RULES.bodyLost],
    ["stalled", bodyThat("stalls", CREATED, 201), RULES.bodyTimeout],
  ];
  const cases = calls.flatMap(([name, call]) => broken.map(([how, reply, rule]) => ({ name, call, how, reply, rule })));
  test.each(cases)("$name, $how", async ({ call, reply, rule }) => {
    const error = await failing([reply], call, { retry: { unsafeWrites: true } });
    expect(error).toMatchObject({ kind: rule.kind, outcome: rule.outcome, attempts: 1 });
    expect(error.rawBody).toContain("emu_K1_onlyonce");
    expect(JSON.stringify(error)).not.toContain("onlyonce");
    expect(error.message).not.toContain("onlyonce");
    expect(error.message).toContain(rule.outcome);
  });

  test("also if an abort or totalTimeoutMs ends it within the body", async () => {
    const late = await failing([bodyThat("stalls", CREATED, 201)], rotate, { timeoutMs: false, totalTimeoutMs: 300 });
    expect(late).toMatchObject({ kind: "timeout", outcome: "accepted" });
    expect(late.rawBody).toContain("onlyonce");
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    const aborted = await failing([bodyThat("stalls", CREATED, 201)], (client) =>
      rotate(client, { signal: controller.signal }),
    );
    expect(aborted).toMatchObject({ kind: "abort", outcome: "accepted" });
    expect(aborted.rawBody).toContain("onlyonce");
  });
});

test("a POST with unsafeWrites that was sent once has an unknown outcome even if its last connection was not made", async () => {
  const error = await failing([connectionLost, notConnected], createIssue, { retry: { unsafeWrites: true } });
  expect(error).toMatchObject({ outcome: "unknown", attempts: DEFAULT_RETRY.attempts, priorAmbiguous: true });
});

test.each<[string, (client: Client) => Promise<unknown>, Outcome | undefined]>([
  ["a write", createIssue, "unknown"],
  ["a read", (client) => client.sessions.get("1"), undefined],
])("the end event has the outcome of the error: of %s", async (_, call, outcome) => {
  const ends: ClientEvent[] = [];
  const onEvent = (event: ClientEvent): void => void (event.type === "end" && ends.push(event));
  const error = await failing([responds(500)], call, { onEvent, retry: false });
  expect(error.outcome).toBe(outcome);
  expect(ends).toMatchObject([{ ok: false, kind: "server", outcome }]);
});
