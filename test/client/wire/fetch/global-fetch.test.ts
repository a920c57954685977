/** Without a `fetch` option: a call keeps the global `fetch` that there was when its method was called. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { Client, path } from "../../../../src/client/index.ts";
import { ended, fakeTime } from "../../../support/fake-time.ts";
import { connectionLost, good, json, pagesOf, type Reply, responds, tooMany } from "../../../support/replies.ts";
import { BASE, repeatingLast, scriptedFetch, TOKEN } from "../../../support/scripted-fetch.ts";

fakeTime();
afterEach(() => {
  vi.unstubAllGlobals();
});

const input = { title: "t", type: "bug" };
const client = (): Client => new Client({ baseUrl: BASE, token: TOKEN });

/** Two globals: a method is called under the first one, and the second one takes its place in the same turn. */
async function callUnderMock<Result>(replies: readonly Reply[], call: () => Promise<Result>) {
  const mock = scriptedFetch(repeatingLast(...replies));
  const real = scriptedFetch(good);
  vi.stubGlobal("fetch", mock.fetch);
  const called = call();
  called.catch(() => {});
  vi.stubGlobal("fetch", real.fetch);
  const { value, error } = await ended(called);
  return { mock, real, value, error };
}

describe("every request of a call goes to it", () => {
  const session: Reply = ({ index }) => json({ id: "s", state: `state ${index}` });
  const provider = (): Client => {
    const token = ({ rejected }: { rejected?: string }): string => (rejected === undefined ? TOKEN : "pat_other_1");
    return new Client({ baseUrl: BASE, token });
  };
  const threePages = pagesOf(["a"], ["b"], ["c"]);

  test.each<[string, readonly Reply[], () => Promise<unknown>, number]>([
    ["a write", [good], () => client().issues.create("p", input), 1],
    ["retries of a read", [connectionLost, responds(503), good], () => client().sessions.get("s"), 3],
    ["a renewal", [responds(401), good], () => provider().issues.create("p", input), 2],
    ["a rotation that is adopted", [tooMany(1), good], () => client().tokens.rotate("t", { adopt: true }), 2],
    ["a custom request", [tooMany(1), good], () => client().request({ method: "PUT", path: path`/x`, json: 1 }), 2],
    ["the first page of a walk", [responds(503), threePages], () => firstOf(client().projects.list()), 2],
    [
      "a wait, its polls",
      [responds(503), session],
      () => client().sessions.waitFor("s", { until: ({ state: seen }) => seen === "state 5" }),
      6,
    ],
    ["a watch, its first state", [responds(503), session], () => firstOf(client().sessions.watch("s")), 2],
  ])("%s", async (...[, replies, call, requests]) => {
    const { mock, real, error } = await callUnderMock(replies, call);
    expect(error).toBeUndefined();
    expect(mock.sent).toHaveLength(requests);
    expect(real.sent).toEqual([]);
  });

  test("a call whose mock fails it ends with that, and not with what comes after it", async () => {
    const { mock, real, error } = await callUnderMock([tooMany(1)], () => client().issues.create("p", input));
    expect(error).toMatchObject({ kind: "rate_limit" });
    expect(mock.sent.length).toBeGreaterThan(1);
    expect(real.sent).toEqual([]);
  });
});

async function firstOf<Value>(values: AsyncIterable<Value>): Promise<unknown> {
  const iterator = values[Symbol.asyncIterator]();
  const { value } = await iterator.next();
  await iterator.return?.();
  return value;
}

test("the next call takes the global one of its own time", async () => {
  const { mock, real } = await callUnderMock([good], () => client().sessions.get("s"));
  await ended(client().sessions.get("s"));
  expect([mock.sent.length, real.sent.length]).toEqual([1, 1]);
});

test("a fetch option is used at all times", async () => {
  const own = scriptedFetch(repeatingLast(tooMany(1), good));
  const withFetch = new Client({ baseUrl: BASE, token: TOKEN, fetch: own.fetch });
  const { mock, real } = await callUnderMock([good], () => withFetch.issues.create("p", input));
  expect([own.sent.length, mock.sent.length, real.sent.length]).toEqual([2, 0, 0]);
});

test("where there is none, a call says so", async () => {
  vi.stubGlobal("fetch", undefined);
  const { error } = await ended(client().sessions.get("s"));
  expect(error).toMatchObject({ kind: "connection", permanent: true });
  expect(String(error)).toContain("there is no global fetch");
});
