/** One span per call and one per attempt, by the conventions, for every way in which a call can end. */
import { expect, test } from "vitest";
import type { Client, ClientOptions } from "../../src/client/index.ts";
import { instrument } from "../../src/opentelemetry/index.ts";
import { allEnded, ended, fakeTime, settleDown } from "../support/fake-time.ts";
import { after, bodyThat, connectionLost, never, responds, tooMany } from "../support/replies.ts";
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

test("a long wait in the queue is on the span of a call that waits", async () => {
  const service = scriptedFetch(after(6_500, responds(200, {}, '{"id":"s","state":"on"}')));
  const { sessions } = client(service, { maxConcurrency: 1 });
  await allEnded([sessions.get("ses_1"), sessions.get("ses_2")]);
  const events = recorded()
    .traces()
    .flatMap((trace) => trace.events);
  expect(events).toEqual([
    ["queue_wait", { "project_automation.waited_ms": expect.any(Number) }],
    ["wait", { "project_automation.wait.stage": "queue", "project_automation.waited_ms": expect.any(Number) }],
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

test("a response of another shape is recorded as the error of the call", async () => {
  await ended(client(scriptedFetch(responds(200, {}, '{"odd":true}'))).sessions.get("ses_1"));
  expect(attempts()).toEqual([["UNSET", 200, undefined, undefined]]);
  expect(onlyTrace()).toMatchObject({
    status: "ERROR",
    attributes: { "error.type": "validation", "project_automation.outcome": "accepted" },
  });
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
