/** The metrics and their attributes. */
import { ATTR_ERROR_TYPE, METRIC_HTTP_CLIENT_REQUEST_DURATION } from "@opentelemetry/semantic-conventions";
import * as conventions from "@opentelemetry/semantic-conventions/incubating";
import { expect, test } from "vitest";
import { type Client, type ClientOptions, path } from "../../src/client/index.ts";
import { instrument } from "../../src/opentelemetry/index.ts";
import { HTTP, METRICS } from "../../src/opentelemetry/names.ts";
import { ended, fakeTime, finish, pass, watch } from "../support/fake-time.ts";
import { after, responds, tooMany } from "../support/replies.ts";
import { type ScriptedFetch, scriptedFetch } from "../support/scripted-fetch.ts";
import { registeredTelemetry } from "../support/telemetry.ts";

fakeTime();
const recorded = registeredTelemetry();

const OWN = "project_automation.client";
const SERVER = { "server.address": "automation.example.com", "server.port": 443 };
const GET = { ...SERVER, "http.request.method": "GET", "url.scheme": "https", "url.template": "/sessions/{id}" };
const good = responds(200, { "ratelimit-remaining": "41" }, '{"id":"s","state":"on"}');

const client = (service: ScriptedFetch, options: ClientOptions = {}): Client => service.client(instrument(options));

test("names are those of the conventions", () => {
  expect(HTTP).toEqual({
    method: conventions.ATTR_HTTP_REQUEST_METHOD,
    status: conventions.ATTR_HTTP_RESPONSE_STATUS_CODE,
    resends: conventions.ATTR_HTTP_REQUEST_RESEND_COUNT,
    address: conventions.ATTR_SERVER_ADDRESS,
    port: conventions.ATTR_SERVER_PORT,
    scheme: conventions.ATTR_URL_SCHEME,
    template: conventions.ATTR_URL_TEMPLATE,
    error: ATTR_ERROR_TYPE,
  });
  expect(METRICS.request).toBe(METRIC_HTTP_CLIENT_REQUEST_DURATION);
});

test("requests, by status and error, in seconds", async () => {
  const one = client(scriptedFetch(responds(503), after(250, good), responds(404)));
  await ended(one.sessions.get("ses_1"));
  await ended(one.sessions.get("ses_2"));
  expect(await recorded().series("http.client.request.duration")).toEqual([
    { attributes: { ...GET, "http.response.status_code": 503, "error.type": "503" }, count: 1, sum: 0 },
    { attributes: { ...GET, "http.response.status_code": 200 }, count: 1, sum: 0.25 },
    { attributes: { ...GET, "http.response.status_code": 404, "error.type": "404" }, count: 1, sum: 0 },
  ]);
});

test("the buckets that the conventions advise, and longer ones for calls and waits", async () => {
  await ended(client(scriptedFetch(tooMany(1), good)).sessions.get("ses_1"));
  const described = (await recorded().metrics()).map(({ descriptor, dataPoints }) => {
    const [{ value } = { value: 0 }] = dataPoints;
    const buckets = typeof value === "object" && "buckets" in value && "boundaries" in value.buckets;
    return [descriptor.name, descriptor.unit, buckets ? value.buckets : undefined];
  });
  const own = { boundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300] };
  expect(described).toEqual([
    [
      "http.client.request.duration",
      "s",
      expect.objectContaining({
        boundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
      }),
    ],
    [`${OWN}.call.duration`, "s", expect.objectContaining(own)],
    [`${OWN}.wait.duration`, "s", expect.objectContaining(own)],
    [`${OWN}.rate_limit.remaining`, "{request}", undefined],
  ]);
});

test("calls, with all their waits, by operation and error", async () => {
  const one = client(scriptedFetch(tooMany(2), good, responds(404)));
  const { tookMs } = await ended(one.sessions.get("ses_1"));
  await ended(one.sessions.get("ses_2"));
  const attributes = { ...SERVER, "project_automation.operation": "sessions.get" };
  expect(await recorded().series(`${OWN}.call.duration`)).toEqual([
    { attributes, count: 1, sum: tookMs / 1000 },
    { attributes: { ...attributes, "error.type": "not_found" }, count: 1, sum: 0 },
  ]);
});

test("waits: in the queue, between attempts, for the token; also of calls that failed", async () => {
  const attributes = { ...SERVER, "project_automation.operation": "sessions.get" };
  const waits = async (): Promise<Record<string, number>> => {
    const series = await recorded().series(`${OWN}.wait.duration`);
    for (const { attributes: found } of series) expect(found).toMatchObject(attributes);
    return Object.fromEntries(series.map((one) => [String(one.attributes["project_automation.wait.stage"]), one.sum]));
  };
  const token = (): Promise<string> => new Promise((resolve) => setTimeout(resolve, 300, "slow"));
  await ended(client(scriptedFetch(responds(503), good), { token }).sessions.get("ses_1"));
  const first = await waits();
  expect(first).toEqual({ backoff: expect.any(Number), token: 0.6 });
  expect(first["backoff"]).toBeGreaterThanOrEqual(0.25);

  const paused = client(scriptedFetch(tooMany(60)));
  const stop = new AbortController();
  const calls = watch([
    paused.sessions.get("ses_1", { signal: stop.signal }),
    paused.sessions.get("ses_2", { signal: stop.signal }),
  ]);
  await pass(20_000);
  stop.abort();
  await finish(calls);
  expect(await waits()).toEqual({ ...first, queue: 40 });
});

test("series do not grow with ids", async () => {
  const one = client(scriptedFetch(good));
  for (let index = 0; index < 50; index += 1) await ended(one.sessions.get(`ses_${index}`));
  for (const { dataPoints } of await recorded().metrics()) expect(dataPoints).toHaveLength(1);
});

test.each([
  ["http://[::1]:8080/api/v1", { "server.address": "::1", "server.port": 8080, "url.scheme": "http" }],
  ["http://localhost/api/v1", { "server.address": "localhost", "server.port": 80, "url.scheme": "http" }],
])("the server of %s", async (baseUrl, expected) => {
  const request = { method: "POST", path: path`/projects/${"web"}/runs`, json: {} } as const;
  await ended(client(scriptedFetch(responds(200, {}, "{}")), { baseUrl }).request(request));
  expect(recorded().traces()).toMatchObject([
    { name: "request", children: [{ name: "POST /projects/{}/runs", attributes: expected }] },
  ]);
  expect(await recorded().series("http.client.request.duration")).toMatchObject([{ attributes: expected }]);
});
