/** The decisions of the page, as functions of values. */
import { expect, test } from "vitest";
import { type Snapshot, Store } from "../../src/page/browser/store.ts";
import { resultOf } from "../../src/page/browser/words.ts";
import type { PageRequest } from "../../src/page/events.ts";
import { filterOf, type Place, parsePlace } from "../../src/page/place.ts";
import { type Kind, kindOf, sumOf, Tally } from "../../src/page/tally.ts";

const ROW: PageRequest = {
  id: "req_1",
  index: 0,
  at: 10_000,
  endedAt: 10_003,
  method: "POST",
  url: "/api/v1/projects/web/issues",
  operation: "issues.create",
  token: { id: "tok_1", name: "ci" },
  status: 201,
  code: undefined,
  outcome: "completed",
  faulty: false,
  fate: "answered",
  why: undefined,
};
const ALL: Place = { open: "", failed: false, text: "" };

test.each<[Partial<PageRequest>, Kind | undefined]>([
  [{}, "accepted"],
  [{ fate: "pending" }, undefined],
  [{ fate: "lost", status: undefined, outcome: "dropped" }, "lost"],
  [{ fate: "lost", status: 503 }, "lost"],
  [{ fate: "not_carried_out", status: 429 }, "refused"],
  [{ fate: "not_carried_out", status: 503 }, "failed"],
  [{ fate: "not_carried_out", status: undefined, outcome: "dropped" }, "failed"],
  [{ fate: "not_carried_out", status: 302 }, "failed"],
  [{ fate: "answered", status: 404 }, "refused"], // of a route
  [{ fate: "answered", status: 500 }, "failed"],
])("a request with %j counts as %s", (part, kind) => {
  expect(kindOf({ ...ROW, ...part })).toBe(kind);
});

test.each<[Partial<PageRequest>, string]>([
  [{}, "carried out and answered"],
  [{ fate: "lost", why: "a scripted fault cut the response off" }, "carried out, answer lost"],
  [{ fate: "not_carried_out", why: "all are used; the window ends" }, "not carried out: all are used"],
  [{ fate: "not_carried_out", code: "too_many_requests" }, "not carried out: too many requests"], // its body is not kept
  [{ fate: "not_carried_out" }, "not carried out"],
])("the row of a request with %j says %s", (part, told) => {
  expect(resultOf({ ...ROW, ...part })).toBe(told);
});

test("counts by steps of 100 ms, keeps a minute, and joins the pauses of a token", () => {
  const tally = new Tally();
  for (const at of [10_000, 10_099, 10_100]) tally.count(at, ROW);
  tally.count(10_150, { ...ROW, fate: "pending" });
  tally.count(10_160, { ...ROW, fate: "lost" });
  expect(tally.steps(11_000)).toEqual([
    { at: 10_000, accepted: 2, refused: 0, failed: 0, lost: 0 },
    { at: 10_100, accepted: 1, refused: 0, failed: 0, lost: 1 },
  ]);
  expect(tally.steps(70_050).map(({ at }) => at)).toEqual([10_100]);
  const minutes = [11_000, 70_050, 80_160].map((now) => sumOf(tally.steps(now)));
  expect(minutes.map(({ accepted, lost }) => [accepted, lost])).toEqual([
    [3, 1],
    [1, 1],
    [0, 0], // 70 s after the last request
  ]);
  expect(tally.counts).toMatchObject({ accepted: 3, lost: 1 });
  const { token } = ROW;
  for (const [from, until] of [
    [11_000, 13_000],
    [11_500, 13_500],
    [14_000, 15_000],
  ] as const)
    tally.pause({ token, from, until });
  tally.pause({ token: { id: "tok_2", name: "other" }, from: 11_000, until: 12_000 });
  expect(tally.pauses(20_000).map(({ from, until }) => [from, until])).toEqual([
    [11_000, 13_500],
    [14_000, 15_000],
    [11_000, 12_000],
  ]);
  for (let at = 100_000; at < 400_000; at += 100) tally.count(at, ROW);
  expect(tally.steps(400_000)).toHaveLength(599);
  expect(tally.counts).toEqual({ accepted: 3_003, refused: 0, failed: 0, lost: 1 });
  // What another one is told of it is the same.
  const { counts } = tally;
  const copy = new Tally({ counts, steps: tally.steps(400_000), pauses: tally.pauses(400_000) });
  expect([copy.counts, copy.steps(400_000)]).toEqual([tally.counts, tally.steps(400_000)]);
});

const row = (number: number, part: Partial<PageRequest>): PageRequest => ({
  ...ROW,
  id: `req_${number}`,
  index: number - 1,
  ...part,
});

test("the filter looks for each word in the whole row", () => {
  const rows = [
    row(1, {}),
    row(2, { fate: "not_carried_out", status: 429, why: "the token has used up its requests" }),
    row(3, { fate: "lost", status: undefined, outcome: "dropped", method: "DELETE" }),
    row(4, { fate: "pending", status: undefined, outcome: "pending" }),
  ];
  const shown = (part: Partial<Place>): readonly string[] =>
    rows.filter(filterOf({ ...ALL, ...part })).map(({ id }) => id);
  expect(shown({})).toEqual(["req_1", "req_2", "req_3", "req_4"]);
  expect(shown({ failed: true })).toEqual(["req_2", "req_3"]);
  expect(shown({ text: "429" })).toEqual(["req_2"]);
  expect(shown({ text: "USED token" })).toEqual(["req_2"]);
  expect(shown({ text: "delete web" })).toEqual(["req_3"]);
  expect(shown({ text: "not carried out" })).toEqual(["req_2"]);
  expect(shown({ text: "undefined" })).toEqual([]);
});

test("a store keeps 500 requests that pass the filter, follows a clock that was set, and begins anew with a snapshot", () => {
  const store = new Store();
  const none = { count: 0, newest: [] };
  const snapshot: Snapshot = {
    v: 1,
    type: "snapshot",
    now: 50_000,
    baseUrl: "http://127.0.0.1/api/v1",
    limit: null,
    windowMs: 60_000,
    world: { projects: none, issues: none, sessions: none, tokens: none },
    faults: [],
    counts: { accepted: 4, refused: 3, failed: 2, lost: 1 },
    steps: [],
    pauses: [],
    requests: [row(1, {})],
  };
  store.take(snapshot, 40_000);
  expect(store.aheadMs).toBe(10_000);
  store.take({ v: 1, type: "request", request: row(2, { at: 50_900, fate: "pending" }) }, 40_100);
  expect(store.aheadMs).toBe(10_000);
  store.take({ v: 1, type: "request", request: row(3, { at: 90_000, fate: "pending" }) }, 40_200);
  expect(store.aheadMs).toBe(49_800);
  for (let number = 4; number < 600; number += 1)
    store.take({ v: 1, type: "response", request: row(number, {}) }, 40_300);
  expect([store.requests.size, [...store.requests.keys()].at(-1)]).toEqual([500, "req_599"]);
  expect(store.tally.counts.accepted).toBe(600);
  store.filter(parsePlace("#?text=201"), [row(50, {}), row(599, {})]);
  store.take({ v: 1, type: "request", request: row(600, { status: undefined, fate: "pending" }) }, 40_300);
  store.take({ v: 1, type: "response", request: row(599, { status: 404 }) }, 40_300);
  expect([store.total, store.requests.size, [...store.requests.keys()].at(-1)]).toEqual([600, 499, "req_598"]);
  store.filter(parsePlace("#?failed"), [row(7, { status: 404 })]);
  expect([...store.requests.keys()]).toEqual(["req_7"]);
  store.take(snapshot, 40_000);
  expect([store.requests.size, store.total, store.tally.counts.accepted]).toEqual([0, 1, 4]);
  // Two full lists are one of the newest rows; so is an answer to a request that has left the list.
  const every = (distance: number): readonly PageRequest[] =>
    Array.from({ length: 500 }, (_, at) => row(6_000 - distance * at, { status: 404 })).reverse();
  for (const request of every(10)) store.take({ v: 1, type: "response", request }, 40_300);
  store.filter(ALL, every(1));
  store.take({ v: 1, type: "response", request: row(1_010, { status: 404 }) }, 40_300);
  expect([...store.requests.keys()]).toEqual(every(1).map(({ id }) => id));
});
