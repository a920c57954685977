/** A `fetch` of the caller's whose responses have bodies that do not do what they should: what was answered counts. */
import { describe, expect, test } from "vitest";
import { memoryRateLimiter, type RateLimiter } from "../../src/index.ts";
import { ended, fakeTime } from "../support/fake-time.ts";
import { good } from "../support/replies.ts";
import { scriptedFetch } from "../support/scripted-fetch.ts";

fakeTime();

const headers = new Headers();
const throwing = (): never => {
  throw new Error("this substitute has no such method");
};
const reader = (more: object): object => ({ getReader: () => more });

const BODIES: readonly [string, object][] = [
  ["whose text() resolves with a number", { text: async () => 42 }],
  ["whose text() throws", { text: throwing }],
  ["whose getReader() throws", { body: { getReader: throwing } }],
  ["whose reader resolves with strings", { body: reader({ read: async () => ({ value: "x" }), cancel: throwing }) }],
  ["whose cancel() returns nothing", { body: reader({ read: throwing, cancel: () => undefined }) }],
];

describe.each(BODIES)("a response %s", (_, body) => {
  const create = (status: number) =>
    ended(
      scriptedFetch(() => ({ status, headers, ...body }) as unknown as Response)
        .client()
        .issues.create("web", { title: "t", type: "bug" }),
    );

  test("with status 201: the write was accepted", async () => {
    expect((await create(201)).error).toMatchObject({ kind: "connection", outcome: "accepted", attempts: 1 });
  });

  test("with status 400: the write was refused", async () => {
    expect((await create(400)).error).toMatchObject({ kind: "bad_request", outcome: "rejected", attempts: 1 });
  });
});

test("a rate limiter that fails when the response is there: the error does not say that nothing was sent", async () => {
  const limiter = memoryRateLimiter();
  const rateLimiter: RateLimiter = {
    enter: (call) => {
      const permit = limiter.enter(call);
      return {
        acquire: () => permit.acquire(),
        confirm: (token) => permit.confirm(token),
        report: (answer) => permit.report(answer),
        release: () => {
          permit.release();
          throw new Error("release failed");
        },
      };
    },
    refresh: () => limiter.refresh(),
    snapshot: (token) => limiter.snapshot(token),
  };
  const service = scriptedFetch(good);
  const { error } = await ended(service.client({ rateLimiter }).issues.create("web", { title: "t", type: "bug" }));
  expect(service.sent).toHaveLength(1);
  expect(error).toMatchObject({ kind: "connection", outcome: "unknown" });
});
