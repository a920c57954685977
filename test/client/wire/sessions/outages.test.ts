/** Waits that outlast outages: each poll is one request, so that a script of replies is a script of polls. */
import { describe, expect, test } from "vitest";
import { type AutomationError, type ClientOptions, isAutomationError } from "../../../../src/client/index.ts";
import { ended, fakeNow, fakeTime, pass } from "../../../support/fake-time.ts";
import {
  connectionLost,
  failsWith,
  never,
  notConnected,
  type Reply,
  responds,
  throws,
  tooMany,
} from "../../../support/replies.ts";
import { repeatingLast, scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

const MINUTE = 60_000;
const ONCE = { retry: false, timeoutMs: 2_000 } satisfies ClientOptions;
const is = (state: string): Reply => responds(200, {}, JSON.stringify({ id: "s", state }));
const RUNNING = { id: "s", state: "running" };
const until = ({ state }: { state: string }): boolean => state === "done";

const PASSING: Readonly<Record<string, Reply>> = {
  "a lost connection": connectionLost,
  "a refused connection": notConnected,
  "an error that nobody knows": throws(() => new RangeError("mine")),
  "a timeout": never,
  "a 503": responds(503),
  "a 503 with Retry-After": responds(503, { "retry-after": "20" }),
  "a 408": responds(408),
  "a 429": tooMany(3),
  "a 429 with a pause of five minutes": tooMany(300),
};

const FINAL: Readonly<Record<string, readonly [Reply, string]>> = {
  "a 400": [responds(400), "bad_request"],
  "a 401": [responds(401), "auth"],
  "a 403": [responds(403), "permission"],
  "a 404": [responds(404), "not_found"],
  "a 501": [responds(501), "server"],
  "a redirect": [responds(302, { location: "/x" }), "redirect"],
  "a body that is JSON only at its beginning": [responds(200, {}, '{"id":"s","state":'), "parse"],
  "another shape": [responds(200, {}, '{"id":"s"}'), "validation"],
  "an invalid certificate": [failsWith("CERT_HAS_EXPIRED"), "connection"],
  "a fetch without a response": [throws(() => new TypeError("fetch resolved with nothing")), "connection"],
};

describe.each(Object.entries(PASSING))("%s", (_, reply) => {
  test("is a missed poll of waitFor, at first and later", async () => {
    const service = scriptedFetch(reply, is("running"), reply, reply, is("done"));
    const { value, error } = await ended(service.client(ONCE).sessions.waitFor("s", { until }));
    expect(error).toBeUndefined();
    expect(value).toEqual({ id: "s", state: "done" });
    expect(service.sent).toHaveLength(5);
  });

  test("is a missed poll of watch", async () => {
    const service = scriptedFetch(is("running"), reply, is("running"), reply, is("done"));
    const states: string[] = [];
    const watching = (async () => {
      for await (const { state } of service.client(ONCE).sessions.watch("s")) {
        states.push(state);
        if (state === "done") return;
      }
    })();
    expect((await ended(watching)).error).toBeUndefined();
    expect(states).toEqual(["running", "done"]);
  });
});

describe.each(Object.entries(FINAL))("%s", (_, [reply, kind]) => {
  test("ends a wait and a watch at once, with the last session seen", async () => {
    for (const method of ["waitFor", "watch"] as const) {
      const service = scriptedFetch(is("running"), reply, is("done"));
      const error = await failureOf(service.client(ONCE).sessions, method);
      expect(error).toMatchObject({ kind, session: RUNNING });
      expect(service.sent).toHaveLength(2);
    }
  });
});

test("retries of a poll are those of any call: a poll is missed when they are exhausted", async () => {
  const service = scriptedFetch(responds(503), responds(503), responds(503), responds(503), is("done"));
  const { value } = await ended(service.client().sessions.waitFor("s", { until }));
  expect(value).toEqual({ id: "s", state: "done" });
  expect(service.sent).toHaveLength(5);
});

test("an outage of ten minutes ends a wait that has no total time, with the last failure and the last session", async () => {
  for (const method of ["waitFor", "watch"] as const) {
    const began = fakeNow();
    const service = scriptedFetch(repeatingLast(is("running"), connectionLost));
    const error = await failureOf(service.client(ONCE).sessions, method);
    expect(error).toMatchObject({ kind: "connection", platformCode: "ECONNRESET", session: RUNNING });
    expect(fakeNow() - began).toBeGreaterThanOrEqual(10 * MINUTE);
    expect(fakeNow() - began).toBeLessThan(11 * MINUTE);
  }
});

test("outages of less than ten minutes each do not end the wait", async () => {
  const began = fakeNow();
  const isUp = (at: number): boolean => Math.floor((at - began) / (9 * MINUTE)) % 2 === 1;
  const service = scriptedFetch((sent) => {
    if (sent.at - began > 60 * MINUTE) return is("done")(sent);
    return isUp(sent.at) ? is("running")(sent) : connectionLost(sent);
  });
  const { value, tookMs } = await ended(service.client(ONCE).sessions.waitFor("s", { until }));
  expect(value).toMatchObject({ state: "done" });
  expect(tookMs).toBeGreaterThan(60 * MINUTE);
});

test.each([503, 408, 429])("a %i is a response and not an outage", async (status) => {
  const began = fakeNow();
  const service = scriptedFetch((sent) => (sent.at - began > 30 * MINUTE ? is("done") : responds(status))(sent));
  const { value } = await ended(service.client(ONCE).sessions.waitFor("s", { until }));
  expect(value).toMatchObject({ state: "done" });
});

test("a pause of half an hour is waited for, and nothing is sent during it", async () => {
  const service = scriptedFetch(is("running"), tooMany(30 * 60), is("done"));
  const states: string[] = [];
  const watching = (async () => {
    for await (const { state } of service.client().sessions.watch("s")) {
      states.push(state);
      if (state === "done") return;
    }
  })();
  expect((await ended(watching)).error).toBeUndefined();
  expect(states).toEqual(["running", "done"]);
  const [, refused, next] = service.sent;
  expect(service.sent).toHaveLength(3);
  expect((next?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(30 * MINUTE);
});

test("the total time is for the whole wait, outages included; its error has the last failure as cause", async () => {
  for (const method of ["waitFor", "watch"] as const) {
    const service = scriptedFetch(repeatingLast(is("running"), connectionLost));
    const began = fakeNow();
    const error = await failureOf(service.client({ ...ONCE, totalTimeoutMs: 20 * MINUTE }).sessions, method);
    expect(error).toMatchObject({ kind: "timeout", phase: "total", session: RUNNING, path: "/sessions/{id}" });
    expect(error.cause).toMatchObject({ kind: "connection" });
    expect(fakeNow() - began).toBeGreaterThanOrEqual(20 * MINUTE);
    expect(fakeNow() - began).toBeLessThan(20 * MINUTE + 100);
  }
});

test("an abort during an outage ends the wait at once, with the last session seen", async () => {
  const controller = new AbortController();
  const service = scriptedFetch(repeatingLast(is("running"), connectionLost));
  const client = service.client(ONCE);
  const waiting = ended(client.sessions.waitFor("s", { until, signal: controller.signal }));
  await pass(MINUTE);
  const before = service.sent.length;
  controller.abort("enough");
  expect((await waiting).error).toMatchObject({ kind: "abort", cause: "enough", session: RUNNING });
  expect(service.sent).toHaveLength(before);
});

type Sessions = ReturnType<ReturnType<typeof scriptedFetch>["client"]>["sessions"];

/** The error of a wait or a watch whose condition never becomes true. */
async function failureOf(sessions: Sessions, method: "waitFor" | "watch"): Promise<AutomationError> {
  const watching = async (): Promise<void> => {
    for await (const _ of sessions.watch("s"));
  };
  const { error } = await ended<unknown>(method === "watch" ? watching() : sessions.waitFor("s", { until }));
  if (!isAutomationError(error)) throw new Error("it did not fail", { cause: error });
  return error;
}
