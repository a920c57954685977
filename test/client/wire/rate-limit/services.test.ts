/** A limit is that of a token at a service: origin and base path. */
import { describe, expect, test } from "vitest";
import {
  type ClientEvent,
  memoryRateLimiter,
  type RateLimitedCall,
  type RateLimiter,
  type RateLimitSnapshot,
} from "../../../../src/client/index.ts";
import { ended, fakeTime, pass } from "../../../support/fake-time.ts";
import { good, tooMany } from "../../../support/replies.ts";
import { BASE, repeatingLast, scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

const TOKEN = "pat_key_secret";

function never(): never {
  throw new Error("there are two clients");
}

describe.each([
  ["another host", "https://other.example/api/v1"],
  ["another port", BASE.replace("/api", ":8443/api")],
  ["another scheme", BASE.replace("https:", "http:")],
  ["another base path", BASE.replace("/api/v1", "/tenant-b/api/v1")],
])("a pause does not hold the same token at %s", (_, baseUrl) => {
  const options = { baseUrl, token: TOKEN, allowInsecureHttp: true };

  test.each(["of another client with the same limiter", "of a derived client"])("%s", async (which) => {
    const service = scriptedFetch(repeatingLast(tooMany(60, { "ratelimit-limit": "7" }), good));
    const rateLimiter = memoryRateLimiter();
    const first = service.client({ token: TOKEN, rateLimiter, retry: false });
    expect((await ended(first.sessions.get("0"))).error).toMatchObject({ kind: "rate_limit" });
    const events: ClientEvent[] = [];
    const more = { ...options, onEvent: (event: ClientEvent) => void events.push(event) };
    const second = which.includes("derived") ? first.withOptions(more) : service.client({ ...more, rateLimiter });
    expect((await ended(second.sessions.get("1"))).tookMs).toBe(0);
    expect(events.map(({ type }) => type)).toEqual(["request", "response", "end"]);

    expect(second.rateLimit?.pausedUntil).toBeUndefined();
    expect(first.rateLimit).toMatchObject({ limit: 7, pausedUntil: expect.any(Date) });
    expect((await ended(first.sessions.get("2"))).error).toMatchObject({ kind: "rate_limit", attempts: 0 });
    expect(service.sent).toHaveLength(2);
    await pass(70_000);
  });
});

test("two spellings of one service are one", async () => {
  const service = scriptedFetch(repeatingLast(tooMany(60), good));
  const rateLimiter = memoryRateLimiter();
  const [first, second] = [BASE, `${BASE.replace("https://", "HTTPS://")}//`].map((baseUrl) =>
    service.client({ baseUrl, token: TOKEN, rateLimiter, retry: false }),
  );
  expect((await ended(first?.sessions.get("0") ?? never())).error).toMatchObject({ kind: "rate_limit" });
  expect((await ended(second?.sessions.get("1") ?? never())).error).toMatchObject({ attempts: 0 });
});

test("each service has a width of its own", async () => {
  const open = new Map<string, number>();
  const most = new Map<string, number>();
  const service = scriptedFetch(async (sent) => {
    const { host } = new URL(sent.url);
    open.set(host, (open.get(host) ?? 0) + 1);
    most.set(host, Math.max(most.get(host) ?? 0, open.get(host) ?? 0));
    await new Promise((resolve) => setTimeout(resolve, 10));
    open.set(host, (open.get(host) ?? 0) - 1);
    return good(sent);
  });
  const rateLimiter = memoryRateLimiter();
  const calls = ["a", "b"].flatMap((host) => {
    const baseUrl = `https://${host}.example/api/v1`;
    const client = service.client({ baseUrl, token: TOKEN, rateLimiter, maxConcurrency: 2 });
    return ["1", "2", "3"].map((id) => client.sessions.get(id));
  });
  await ended(Promise.all(calls));
  expect(Object.fromEntries(most)).toEqual({ "a.example": 2, "b.example": 2 });
});

test("snapshot tells the limit of a token at a service", async () => {
  const service = scriptedFetch((sent) => {
    const response = good(sent) as Response; // it replies at once
    response.headers.set("ratelimit-limit", sent.url.includes("a.example") ? "1" : "2");
    return response;
  });
  const rateLimiter = memoryRateLimiter();
  const limits = (): unknown[] =>
    ["https://a.example", "https://b.example"].map((at) => rateLimiter.snapshot(TOKEN, at)?.limit);
  expect(limits()).toEqual([undefined, undefined]);
  const [a, b] = ["https://a.example", "https://b.example"].map((baseUrl) =>
    service.client({ baseUrl, token: TOKEN, rateLimiter }),
  );
  await ended(a?.sessions.get("1") ?? never());
  expect(limits()).toEqual([1, undefined]);
  await ended(b?.sessions.get("1") ?? never());
  expect(limits()).toEqual([1, 2]);
  expect(rateLimiter.snapshot(TOKEN.slice(1), "https://a.example"), "no part of a token is one").toBeUndefined();
});

test("a limiter of the caller's own is told the service of each call, and asked for it", async () => {
  const inner = memoryRateLimiter();
  const entered: RateLimitedCall["service"][] = [];
  const asked: unknown[] = [];
  const rateLimiter: RateLimiter = {
    enter(call) {
      entered.push(call.service);
      return inner.enter(call);
    },
    snapshot(token, service): RateLimitSnapshot | undefined {
      asked.push([token, service]);
      return inner.snapshot(token, service);
    },
  };
  const service = scriptedFetch(good);
  const first = service.client({ baseUrl: "https://a.example/v1/", token: TOKEN, rateLimiter });
  const second = first.withOptions({ baseUrl: "https://b.example/v1", token: TOKEN });
  for (const client of [first, second]) await ended(client.sessions.get("1"));
  expect(entered).toEqual(["https://a.example/v1", "https://b.example/v1"]);
  void second.rateLimit;
  expect(asked).toEqual([[TOKEN, "https://b.example/v1"]]);
});
