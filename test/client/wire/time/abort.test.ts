/** The caller's signal: every wait ends at once, and the error has the outcome of the call. */
import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { AbortError, type ClientEvent, type ClientOptions, type Outcome } from "../../../../src/client/index.ts";
import { createIssue } from "../../../support/calls.ts";
import { allEnded, ended, fakeTime, finish, pass, watch } from "../../../support/fake-time.ts";
import { fetchFailed } from "../../../support/fetch-errors.ts";
import { after, bodyThat, good, never, notConnected, type Reply, responds, tooMany } from "../../../support/replies.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

const hanging = (): Promise<string> => new Promise(() => undefined);

interface Moment {
  readonly when: string;
  readonly replies: readonly Reply[];
  readonly options?: ClientOptions;
  readonly outcome: Outcome | readonly Outcome[];
  readonly requests: number;
  /** What the message says of it. */
  readonly where: string;
}

const moments: readonly Moment[] = [
  {
    when: "the token provider hangs",
    replies: [good],
    options: { token: hanging },
    outcome: "not_sent",
    requests: 0,
    where: "while getting the token",
  },
  {
    when: "headers are awaited",
    replies: [never],
    outcome: "unknown",
    requests: 1,
    where: "while waiting for the response",
  },
  {
    when: "the body is read",
    replies: [bodyThat("stalls")],
    outcome: "accepted",
    requests: 1,
    where: "while reading the response",
  },
  {
    when: "a pause lasts",
    replies: [tooMany(60)],
    outcome: ["not_sent", "rejected"],
    requests: 1,
    where: "before it was sent again",
  },
  {
    when: "it backs off",
    replies: [notConnected],
    options: { retry: { minDelayMs: 60_000, maxDelayMs: 60_000 } },
    outcome: "not_sent",
    requests: 1,
    where: "between attempts",
  },
  {
    when: "it backs off after it was sent",
    replies: [responds(500)],
    options: { retry: { minDelayMs: 60_000, maxDelayMs: 60_000, unsafeWrites: true } },
    outcome: "unknown",
    requests: 1,
    where: "between attempts",
  },
  {
    when: "a refusal's body stalls",
    replies: [() => new Response(new ReadableStream(), { status: 400 })],
    outcome: "unknown",
    requests: 1,
    where: "while reading the response",
  },
];

describe.each(moments)("while $when", ({ replies, options, outcome, requests, where }) => {
  test("ends at once", async () => {
    const controller = new AbortController();
    const service = scriptedFetch(...replies);
    const call = watch([createIssue(service.client(options), { signal: controller.signal })]);
    await pass(200);
    const reason = new Error("the reason");
    controller.abort(reason);
    const [settled] = await finish(call);
    if (!(settled?.error instanceof AbortError)) throw settled?.error;
    expect(settled.error.cause).toBe(reason);
    expect([outcome].flat()).toContain(settled.error.outcome);
    expect(settled.error.attempts).toBe(requests);
    expect(settled.error.message).toContain(`aborted by the caller ${where}`);
    expect(settled.tookMs).toBe(200);
    await pass(120_000);
    expect(service.sent).toHaveLength(requests);
    expect(service.open).toBe(0);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });
});

test("while it is queued: nothing is sent", async () => {
  const controller = new AbortController();
  const service = scriptedFetch(after(1_000, good));
  const client = service.client({ maxConcurrency: 1 });
  const done = watch([
    createIssue(client, {}),
    createIssue(client, { signal: controller.signal }),
    createIssue(client, {}),
  ]);
  await pass(500);
  controller.abort();
  const settled = await finish(done);
  expect(settled.map(({ error }) => error instanceof AbortError)).toEqual([false, true, false]);
  expect(settled[1]?.error).toMatchObject({ outcome: "not_sent", attempts: 0 });
  expect(service.sent).toHaveLength(2);
});

test("already aborted: nothing is sent and the provider is not called", async () => {
  let asked = 0;
  const service = scriptedFetch(good);
  const token = (): string => {
    asked += 1;
    return "provided";
  };
  const { error } = await ended(createIssue(service.client({ token }), { signal: AbortSignal.abort("why") }));
  expect(error).toMatchObject({ kind: "abort", cause: "why", outcome: "not_sent" });
  expect([asked, service.sent.length]).toEqual([0, 0]);
});

test("one of 50 aborted: the others succeed, and the client still works", async () => {
  const controller = new AbortController();
  const service = scriptedFetch(after(100, good));
  const client = service.client();
  const done = watch(
    Array.from({ length: 50 }, (_, nth) => client.sessions.get("1", nth === 17 ? { signal: controller.signal } : {})),
  );
  await pass(150);
  controller.abort();
  const settled = await finish(done);
  expect(settled.filter(({ error }) => error !== undefined)).toHaveLength(1);
  expect(settled[17]?.error).toBeInstanceOf(AbortError);
  expect((await ended(client.sessions.get("1"))).error).toBeUndefined();
  const again = await ended(client.sessions.get("1", { signal: controller.signal }));
  expect(again.error).toBeInstanceOf(AbortError);
  expect(service.sent).toHaveLength(51);
});

test.each(["", "{"])("a DELETE that is aborted after its 2xx head and %j has been done", async (first) => {
  const controller = new AbortController();
  const service = scriptedFetch(bodyThat("stalls", first, 200));
  const call = watch([service.client().tokens.revoke("tok_1", { signal: controller.signal })]);
  await pass(100);
  controller.abort();
  const [settled] = await finish(call);
  expect(settled).toMatchObject({ value: undefined, error: undefined });
  expect(service.sent).toHaveLength(1);
});

test("an abort rejects with AbortError, whatever error fetch rejects with", async () => {
  const service = scriptedFetch(
    ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(fetchFailed("ECONNRESET")))),
  );
  const controller = new AbortController();
  const call = allEnded([service.client().sessions.get("1", { signal: controller.signal })]);
  setTimeout(() => controller.abort(), 10);
  expect((await call)[0]?.error).toBeInstanceOf(AbortError);
  expect(service.sent).toHaveLength(1);
});

test("an abort in the handler of the request event stops the attempt", async () => {
  const controller = new AbortController();
  const service = scriptedFetch(good);
  const onEvent = ({ type }: ClientEvent): void => {
    if (type === "request") controller.abort();
  };
  const { error } = await ended(createIssue(service.client({ onEvent }), { signal: controller.signal }));
  expect(error).toMatchObject({ kind: "abort", outcome: "not_sent", attempts: 0 });
  expect(service.sent).toHaveLength(0);
});
