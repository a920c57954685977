/** One span per call and one per attempt, by the conventions, for every way in which a call can end. */
import { expect, test } from "vitest";
import { type Client, type ClientEvent, type ClientOptions, path } from "../../src/client/index.ts";
import { instrument } from "../../src/opentelemetry/index.ts";
import { ended, fakeTime, finish, pass, settleDown, watch } from "../support/fake-time.ts";
import { bodyThat, connectionLost, never, responds, tooMany } from "../support/replies.ts";
import { type ScriptedFetch, scriptedFetch } from "../support/scripted-fetch.ts";
import { registeredTelemetry, type Traced } from "../support/telemetry.ts";

fakeTime();
const recorded = registeredTelemetry();

const client = (service: ScriptedFetch, options: ClientOptions = {}): Client => service.client(instrument(options));

const GET = {
  "http.request.method": "GET",
  "server.address": "automation.example.com",
  "server.port": 443,
  "url.scheme": "https",
  "url.template": "/sessions/{id}",
};

/** The trace of the only call. */
function onlyTrace(): Traced {
  const [trace, ...more] = recorded().traces();
  if (trace === undefined || more.length > 0) throw new Error(`${more.length + 1} traces, and not one`);
  return trace;
}

/** The attributes in which the attempts differ. */
const attempts = (): readonly unknown[] =>
  onlyTrace().children.map(({ status, attributes }) => [
    status,
    attributes["http.response.status_code"],
    attributes["error.type"],
    attributes["http.request.resend_count"],
  ]);

test("a call that succeeds at once", async () => {
  const service = scriptedFetch(responds(200, { "ratelimit-remaining": "59" }, '{"id":"s","state":"on"}'));
  await ended(client(service).sessions.get("ses_1"));
  expect(recorded().traces()).toEqual([
    {
      name: "sessions.get",
      kind: "INTERNAL",
      status: "UNSET",
      attributes: {
        "project_automation.operation": "sessions.get",
        "project_automation.attempts": 1,
        "project_automation.outcome": "accepted",
        "project_automation.waited_ms": 0,
      },
      events: [],
      children: [
        {
          name: "GET /sessions/{id}",
          kind: "CLIENT",
          status: "UNSET",
          attributes: { ...GET, "http.response.status_code": 200, "project_automation.rate_limit.remaining": 59 },
          events: [],
          children: [],
        },
      ],
    },
  ]);
});

test("a 429 that is waited for: the pause is on the span of the call, the 429 on that of the attempt", async () => {
  const service = scriptedFetch(tooMany(3), responds(200, {}, '{"id":"s","state":"on"}'));
  const { tookMs } = await ended(client(service).sessions.get("ses_1"));
  expect(attempts()).toEqual([
    ["ERROR", 429, "429", undefined],
    ["UNSET", 200, undefined, 1],
  ]);
  const { status, attributes, events } = onlyTrace();
  expect(status).toBe("UNSET");
  expect(attributes).toMatchObject({ "project_automation.attempts": 2, "project_automation.outcome": "accepted" });
  expect(Number(attributes["project_automation.waited_ms"])).toBeGreaterThanOrEqual(3_000);
  expect(Number(attributes["project_automation.waited_ms"])).toBeLessThanOrEqual(tookMs);
  const delayMs = expect.any(Number);
  expect(events).toEqual([
    ["rate_limit_pause", { "project_automation.delay_ms": delayMs }],
    ["retry", { "project_automation.retry.reason": "rate_limit", "project_automation.delay_ms": delayMs }],
    ["rate_limit_resume", {}],
    ["wait", { "project_automation.wait.stage": "queue", "project_automation.waited_ms": delayMs }],
  ]);
});

test("a 503 with a backoff", async () => {
  const service = scriptedFetch(responds(503), responds(200, {}, '{"id":"s","state":"on"}'));
  await ended(client(service).sessions.get("ses_1"));
  expect(attempts()).toEqual([
    ["ERROR", 503, "503", undefined],
    ["UNSET", 200, undefined, 1],
  ]);
  expect(onlyTrace().events).toMatchObject([
    ["retry", { "project_automation.retry.reason": "server_error" }],
    ["wait", { "project_automation.wait.stage": "backoff" }],
  ]);
});

test("a 401, and another token", async () => {
  const service = scriptedFetch(responds(401), responds(200, {}, '{"id":"s","state":"on"}'));
  const token = ({ rejected }: { rejected?: string | undefined }): string =>
    rejected === undefined ? "first" : "next";
  await ended(client(service, { token }).sessions.get("ses_1"));
  expect(attempts()).toEqual([
    ["ERROR", 401, "401", undefined],
    ["UNSET", 200, undefined, 1],
  ]);
  expect(onlyTrace().events.map(([name]) => name)).toEqual(["retry", "token_refresh"]);
});

test("an error response", async () => {
  await ended(client(scriptedFetch(responds(404))).sessions.get("ses_1"));
  expect(attempts()).toEqual([["ERROR", 404, "404", undefined]]);
  expect(onlyTrace()).toMatchObject({
    status: "ERROR",
    attributes: { "error.type": "not_found", "project_automation.outcome": "rejected" },
  });
});

test("a redirect is an error of the call, not of the attempt", async () => {
  await ended(client(scriptedFetch(responds(302, { location: "/secret" }))).sessions.get("ses_1"));
  expect(attempts()).toEqual([["UNSET", 302, undefined, undefined]]);
  expect(onlyTrace()).toMatchObject({ status: "ERROR", attributes: { "error.type": "redirect" } });
});

test("a response of another shape is recorded as the error of the call", async () => {
  await ended(client(scriptedFetch(responds(200, {}, '{"odd":true}'))).sessions.get("ses_1"));
  expect(attempts()).toEqual([["UNSET", 200, undefined, undefined]]);
  expect(onlyTrace()).toMatchObject({
    status: "ERROR",
    attributes: { "error.type": "validation", "project_automation.outcome": "accepted" },
  });
});

test("drift and deprecation are recorded without texts of the response", async () => {
  const service = scriptedFetch(responds(200, { sunset: "Sat, 31 Dec 2033 23:59:59 GMT" }, '{"odd":true}'));
  await ended(client(service, { validation: "lenient" }).sessions.get("ses_1"));
  expect(onlyTrace().events).toEqual([
    ["deprecation", {}],
    ["drift", { "project_automation.drift.issues": 2 }],
  ]);
});

test("a connection that is lost, and one that is lost in the body", async () => {
  const service = scriptedFetch(connectionLost, bodyThat("breaks"), responds(200, {}, '{"id":"s","state":"on"}'));
  await ended(client(service).sessions.get("ses_1"));
  expect(attempts()).toEqual([
    ["ERROR", undefined, "connection", undefined],
    ["ERROR", 200, "connection", 1],
    ["UNSET", 200, undefined, 2],
  ]);
});

test("an attempt that takes too long, and then the call", async () => {
  await ended(
    client(scriptedFetch(never), { timeoutMs: 100, totalTimeoutMs: 10_000, retry: { attempts: 2 } }).sessions.get(
      "ses_1",
    ),
  );
  expect(attempts()).toEqual([
    ["ERROR", undefined, "timeout", undefined],
    ["ERROR", undefined, "timeout", 1],
  ]);
  expect(onlyTrace()).toMatchObject({ status: "ERROR", attributes: { "error.type": "timeout" } });
});

test("an abort before the response", async () => {
  const stop = new AbortController();
  const call = client(scriptedFetch(never)).sessions.get("ses_1", { signal: stop.signal });
  const settled = ended(call);
  await settleDown();
  stop.abort();
  await settled;
  expect(attempts()).toEqual([["ERROR", undefined, "abort", undefined]]);
  expect(onlyTrace()).toMatchObject({
    status: "ERROR",
    attributes: { "error.type": "abort", "project_automation.attempts": 1 },
  });
  // A read is never unknown.
  expect(onlyTrace().attributes).not.toHaveProperty("project_automation.outcome");
});

test("an abort in the queue: the call waited and sent nothing", async () => {
  const stop = new AbortController();
  const one = client(scriptedFetch(never), { maxConcurrency: 1, timeoutMs: false });
  const calls = [
    one.sessions.get("ses_1", { totalTimeoutMs: 9_000 }),
    one.sessions.get("ses_2", { signal: stop.signal }),
  ];
  const settled = watch(calls);
  await pass(5_000);
  stop.abort();
  await finish(settled);
  const queued = recorded()
    .traces()
    .find(({ children }) => children.length === 0);
  expect(queued).toMatchObject({
    status: "ERROR",
    attributes: {
      "error.type": "abort",
      "project_automation.attempts": 0,
      "project_automation.outcome": "not_sent",
    },
    children: [],
  });
  expect(Number(queued?.attributes["project_automation.waited_ms"])).toBeCloseTo(5_000, -2);
});

test("held back by a pause that is too long: nothing is sent", async () => {
  const one = client(scriptedFetch(tooMany(600)));
  await ended(one.sessions.get("ses_1"));
  await ended(one.sessions.get("ses_2"));
  const [first, second] = recorded().traces();
  expect(first).toMatchObject({ attributes: { "error.type": "rate_limit" }, children: [{ status: "ERROR" }] });
  expect(second).toMatchObject({
    status: "ERROR",
    attributes: { "error.type": "rate_limit", "project_automation.outcome": "not_sent" },
    children: [],
  });
});

test("a token provider that fails, and invalid arguments", async () => {
  const token = (): never => {
    throw new Error("the vault is shut");
  };
  const one = client(scriptedFetch(), { token });
  await ended(one.sessions.get("ses_1"));
  expect(onlyTrace()).toMatchObject({ status: "ERROR", attributes: { "error.type": "token_provider" }, children: [] });
  await ended(one.sessions.get(""));
  expect(recorded().traces()).toHaveLength(1);
});

test("a DELETE whose body is lost is a success, with one response and an attempt that ends", async () => {
  const types: string[] = [];
  const service = scriptedFetch(bodyThat("breaks"));
  const options = { onEvent: ({ type }: ClientEvent) => void types.push(type) };
  const { error } = await ended(client(service, options).request({ method: "DELETE", path: path`/things/${"1"}` }));
  expect(error).toBeUndefined();
  expect(types).toEqual(["request", "response", "end"]);
  expect(attempts()).toEqual([["UNSET", 200, undefined, undefined]]);
});

test("a response whose body is lost is told once, with the loss, and its attempt fails", async () => {
  const lost: unknown[] = [];
  const service = scriptedFetch(bodyThat("breaks"), responds(200, {}, '{"id":"s","state":"on"}'));
  const onEvent = (event: ClientEvent): void =>
    void (event.type === "response" && lost.push([event.status, event.lost]));
  await ended(client(service, { onEvent, retry: { minDelayMs: 0 } }).sessions.get("ses_1"));
  expect(lost).toEqual([
    [200, "connection"],
    [200, undefined],
  ]);
  expect(attempts()).toEqual([
    ["ERROR", 200, "connection", undefined],
    ["UNSET", 200, undefined, 1],
  ]);
});
