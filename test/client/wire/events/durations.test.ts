/** The durations in events: their sum is the time of the call. */
import { expect, test } from "vitest";
import type { CallObserver, ClientEvent, Durations } from "../../../../src/client/index.ts";
import { ended, fakeNow, fakeTime, finish, pass, watch } from "../../../support/fake-time.ts";
import { after, connectionLost, good, type Reply, responds, tooMany } from "../../../support/replies.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const sum = (...durations: readonly Durations[]): number =>
  durations.reduce((all, one) => all + one.waitMs + one.queueMs + one.tokenMs + one.headersMs + one.bodyMs, 0);

test("the durations of every retry and of the last response are the call's time", async () => {
  const events: ClientEvent[] = [];
  const service = scriptedFetch(
    after(30, responds(503)),
    after(20, connectionLost),
    after(10, tooMany(2)),
    after(40, good),
  );
  const token = async (): Promise<string> => {
    await later(7);
    return "pat_1";
  };
  const client = service.client({ token, retry: { attempts: 5 }, onEvent: (event) => void events.push(event) });
  const began = fakeNow();
  await ended(client.sessions.get("1"));
  const took = fakeNow() - began;
  const retries = events.filter((event) => event.type === "retry");
  const responses = events.filter((event) => event.type === "response");
  const last = responses.at(-1);
  expect(retries.map(({ reason, attempt }) => [reason, attempt])).toEqual([
    ["server_error", 1],
    ["connection", 2],
    ["rate_limit", 3],
  ]);
  if (last === undefined) return expect.fail("there was no response");
  expect(sum(...retries, last)).toBeCloseTo(took, 6);
  expect(last.attempt).toBe(4);
  for (const one of [...retries, last]) expect(one.tokenMs).toBeGreaterThanOrEqual(7);
  expect(retries[0]).toMatchObject({ waitMs: 0, queueMs: 0 });
  expect(retries[0]?.headersMs).toBeGreaterThanOrEqual(30);
  // Backoff is waited for between attempts, a pause of the token in the queue.
  expect(retries[1]?.waitMs).toBeGreaterThanOrEqual(250);
  expect(last.waitMs).toBeLessThan(1);
  expect(last.queueMs + last.tokenMs).toBeGreaterThanOrEqual(2_000);
  const requests = events.filter((event) => event.type === "request");
  expect(
    requests.map(({ attempt, waitMs, queueMs, tokenMs }) => ({ attempt, waitMs, queueMs, tokenMs })),
  ).toMatchObject(
    [...retries, last].map(({ attempt, waitMs, queueMs, tokenMs }) => ({ attempt, waitMs, queueMs, tokenMs })),
  );
});

test("a walk reports its pages, its items, and how long it has waited", async () => {
  const events: ClientEvent[] = [];
  const page =
    (data: readonly unknown[], next_cursor: string | null): Reply =>
    () =>
      Response.json({ data, next_cursor });
  const project = (id: string): unknown => ({ id, name: id });
  const service = scriptedFetch(
    page([project("a"), project("b")], "c1"),
    tooMany(3),
    page([], "c2"),
    page([project("c")], null),
  );
  const client = service.client({ onEvent: (event) => void events.push(event) });
  await ended(client.projects.list().toArray());
  const pages = events.filter((event) => event.type === "page");
  expect(pages.map(({ pages: count, items, operation }) => [operation, count, items])).toEqual([
    ["projects.list", 1, 2],
    ["projects.list", 2, 2],
    ["projects.list", 3, 3],
  ]);
  expect(pages[0]?.waitedMs).toBeLessThan(1);
  expect(pages[1]?.waitedMs).toBeGreaterThanOrEqual(3_000);
  expect(pages[2]?.waitedMs).toBeGreaterThanOrEqual(pages[1]?.waitedMs ?? Number.POSITIVE_INFINITY);
  await pass(1);
});

test("waits of a call that fails are reported at its end", async () => {
  const ends: unknown[] = [];
  const end: CallObserver["end"] = (error, waited) => void ends.push([error?.kind, waited]);
  const options = { instrumentation: { begin: () => ({ end }) }, retry: { minDelayMs: 60_000, maxDelayMs: 60_000 } };
  const client = scriptedFetch(responds(503), responds(404), good, tooMany(60)).client(options);
  const nothing = { waitMs: 0, queueMs: 0, tokenMs: 0 };
  const stop = new AbortController();
  const backingOff = watch([client.sessions.get("1", { signal: stop.signal })]);
  await pass(5_000);
  stop.abort();
  await finish(backingOff);
  await ended(client.sessions.get("1"));
  await ended(client.sessions.get("1"));
  await ended(client.sessions.get("1", { totalTimeoutMs: 1_000 }));
  await ended(client.sessions.get("1", { totalTimeoutMs: 1_000 }));
  const halted = new AbortController();
  const inLine = watch([client.sessions.get("1", { signal: halted.signal })]);
  await pass(7_000);
  halted.abort();
  await finish(inLine);
  expect(ends).toEqual([
    ["abort", { ...nothing, waitMs: 5_000 }],
    ["not_found", undefined],
    [undefined, undefined],
    ["rate_limit", undefined],
    ["rate_limit", nothing],
    ["abort", { ...nothing, queueMs: 7_000 }],
  ]);
});
