/** The runs with a fault: which request fails, in which way. */
import { expect, test } from "vitest";
import type { RecordedRequest } from "../../src/emulator/request-log.ts";
import { KIND_NAMES, nameOf } from "../../src/explore/kinds.ts";
import { differenceOf, placesOf } from "../../src/explore/places.ts";
import { type ExploredRequest, requestsOf } from "../../src/explore/requests.ts";

const ENTRIES = {
  create: { operation: "issues.create", method: "POST", path: "/projects/web/issues", status: 201 },
  list: { operation: "projects.list", method: "GET", path: "/projects", status: 200 },
  revoke: { operation: "tokens.revoke", method: "DELETE", path: "/me/tokens/tok_1", status: 204 },
  own: { operation: undefined, method: "POST", path: "/projects/web/labels", status: 200 },
} as const;
type Name = keyof typeof ENTRIES;
const undisturbed = (first: readonly Name[], again: readonly Name[]) => {
  const all = requestsOf([...first, ...again].map((name) => ENTRIES[name] as RecordedRequest));
  return { first: all.slice(0, first.length), again: all.slice(first.length) };
};
const ALL = { faults: KIND_NAMES, all: false };

test.each<[string, Name[], Name[], Record<string, number>]>([
  ["one write: each kind", ["create"], ["create"], { "issues.create 1": 10 }],
  [
    "60 runs: each request with each kind",
    Array.from({ length: 6 }, () => "create"),
    [],
    Object.fromEntries([1, 2, 3, 4, 5, 6].map((number) => [`issues.create ${number}`, 10])),
  ],
  [
    "more: the first, and the last with the kinds that hit what came before",
    Array.from({ length: 7 }, () => "create"),
    [],
    {
      "issues.create 1": 10,
      "issues.create 7": 5,
      "left out": 55,
    },
  ],
  ["a read: no kind after which it is done", ["list"], [], { "projects.list 1": 7 }],
  ["no body: it cannot be cut", ["revoke"], [], { "tokens.revoke 1": 9 }],
  ["an endpoint without a name", ["own"], [], { "POST /projects/web/labels 1": 10 }],
  [
    "one more start that sends the same",
    ["list", "create"],
    ["list", "create"],
    {
      "projects.list 1": 7,
      "issues.create 1": 10,
    },
  ],
  [
    "one more start that sends something else",
    ["list", "create"],
    ["list"],
    {
      "projects.list 1": 7,
      "issues.create 1": 10,
      "projects.list 2": 7,
    },
  ],
])("%s", (...[, first, again, counts]) => {
  const found: Record<string, number> = {};
  const { places, leftOut } = placesOf(undisturbed(first, again), ALL);
  for (const place of places) {
    const name = nameOf(place).replace(/^\w+ /, "");
    found[name] = (found[name] ?? 0) + 1;
  }
  if (leftOut > 0) found["left out"] = leftOut;
  expect(found).toEqual(counts);
});

test("all requests, and some kinds alone", () => {
  const creates = Array.from({ length: 61 }, () => "create" as const);
  const { places, leftOut } = placesOf(undisturbed(creates, []), { faults: ["rate_limit"], all: true });
  expect(places.map(nameOf)).toEqual(creates.map((_, at) => `rate_limit issues.create ${at + 1}`));
  expect(leftOut).toBe(0);
});

test.each<[Name[], Name[], string | undefined]>([
  [["list", "create"], ["create", "list"], undefined],
  [["list"], ["list", "list"], "one sent 1 requests of projects.list, another 2"],
])("%j beside %j", (one, other, words) => {
  expect(differenceOf(undisturbed(one, []).first, undisturbed(other, []).first)).toBe(words);
});

test("two starts are compared in one pass over their requests, however many endpoints they have", () => {
  let looks = 0;
  const requests = Array.from({ length: 1_000 }, (_, at) => ({
    ...requestsOf([ENTRIES.own as RecordedRequest])[0],
    get path() {
      looks += 1;
      return `/projects/web/labels/${at}`;
    },
  })) as ExploredRequest[];
  expect(differenceOf(requests, requests)).toBeUndefined();
  expect(looks).toBeLessThan(10 * requests.length);
});
