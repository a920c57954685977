/** The verdict of a run, from what it left and how its starts ended. */
import { describe, expect, test } from "vitest";
import type { RecordedRequest } from "../../src/emulator/request-log.ts";
import type { End, StartRecord } from "../../src/explore/run-record.ts";
import { type Judged, judge } from "../../src/explore/verdict.ts";
import { compareWorlds, type Thing, unsteadyFields } from "../../src/explore/world.ts";

const issue = (title: string, status = "open"): Thing => ({
  kind: "issue",
  fields: { project: "web", title, type: "bug", status },
});
const token = (name: string): Thing => ({ kind: "token", fields: { name, scopes: "" } });
const file = (text: string, name = "report.json"): Thing => ({ kind: `file ${name}`, fields: { text } });

type State = StartRecord["outcome"]["state"];
const start = (state: State, ...requests: Partial<RecordedRequest>[]): StartRecord => ({
  outcome: { state, words: `ended as ${state}` },
  requests: requests as RecordedRequest[], // what is asked of them is there
  ms: 1,
});
const end = (things: readonly Thing[], ...states: readonly State[]): End => ({
  things,
  starts: states.map((state) => start(state)),
});

const DUE = [issue("one"), issue("two"), file("[1]")];
const verdictOf = (run: Partial<Judged>, again?: End): string => {
  const reference = {
    run: { first: end(DUE, "done"), again: again ?? end(DUE, "done"), hit: undefined },
    unsteady: new Map(),
  };
  const verdict = judge(reference, { first: end(DUE, "done"), again: undefined, hit: undefined, ...run });
  return typeof verdict === "string" ? verdict : verdict.what;
};

describe("a run that leaves", () => {
  test.each<[string, readonly Thing[], readonly State[], string]>([
    ["the same", DUE, ["done"], "right"],
    ["the same, and says that it is not done", DUE, ["failed", "failed"], "told"],
    ["an issue twice", [...DUE, issue("one")], ["failed", "failed"], "twice"],
    ["an issue that should not be", [...DUE, issue("three")], ["done"], "changed"],
    ["a live token that should not be, and is done", [...DUE, token("job")], ["done"], "changed"],
    ["a live token that should not be, and is not done", [...DUE, token("job")], ["failed"], "told"],
    ["less, and is done", [issue("one"), file("[1]")], ["done"], "lost"],
    ["less, and is not done", [issue("one")], ["failed"], "told"],
    ["another issue in the place of one", [issue("one"), issue("two", "closed"), file("[1]")], ["done"], "changed"],
    ["another file", [issue("one"), issue("two"), file("[]")], ["done"], "changed"],
    ["no file", [issue("one"), issue("two")], ["done"], "lost"],
    ["the same, but does not end", DUE, ["hangs"], "hangs"],
    ["an issue twice, and does not end", [...DUE, issue("one")], ["hangs"], "twice"],
    ["the same, after it was killed", DUE, ["killed", "done"], "right"],
  ])("%s", (...[, things, states, verdict]) => {
    expect(verdictOf({ first: end(things, ...states) })).toBe(verdict);
  });
});

test.each<[string, readonly Thing[], string]>([
  ["nothing more", DUE, "right"],
  ["an issue once more", [...DUE, issue("one")], "twice"],
])("one more start that makes %s", (_, things, verdict) => {
  expect(verdictOf({ first: end(DUE, "failed", "done"), again: end(things, "done") })).toBe(verdict);
});

test("one more start is held against that of the undisturbed program", () => {
  const doubled = end([...DUE, issue("one")], "done");
  expect(verdictOf({ again: doubled }, doubled)).toBe("right");
  expect(verdictOf({ again: end(DUE, "done") }, doubled)).toBe("lost");
});

const REFUSED = { status: 401, faulty: false };
test("a program that is locked out undisturbed, too, is not accused", () => {
  const again: End = { things: DUE, starts: [start("failed", REFUSED)] };
  expect(verdictOf({ again })).toBe("locked_out");
  expect(verdictOf({ again }, again)).toBe("told");
});

test.each<[string, Judged["first"]["starts"], Partial<RecordedRequest> | undefined, string]>([
  ["each later start is answered 401", [start("failed"), start("failed", REFUSED)], undefined, "locked_out"],
  ["the first alone is", [start("failed", REFUSED), start("failed", { status: 201 })], undefined, "told"],
  ["the 401 is the fault", [start("failed"), start("failed", { ...REFUSED, faulty: true })], undefined, "told"],
  [
    "the answer of a rotation was lost",
    [start("failed"), start("failed", REFUSED)],
    { operation: "tokens.rotate", applied: true },
    "told",
  ],
  [
    "the answer of a revocation was lost",
    [start("failed"), start("failed", REFUSED)],
    { operation: "tokens.revoke", applied: true },
    "told",
  ],
  [
    "a revocation was not carried out",
    [start("failed"), start("failed", REFUSED)],
    { operation: "tokens.revoke", applied: false },
    "locked_out",
  ],
])("a token that is refused: %s", (...[, starts, hit, verdict]) => {
  expect(verdictOf({ first: { things: [], starts }, hit: hit as RecordedRequest })).toBe(verdict);
});

test.each<[string, readonly (readonly Thing[])[], Record<string, string>]>([
  ["nothing", [DUE, DUE, DUE], {}],
  ["a number in a title", [[issue("run 1")], [issue("run 12")]], { "issue title": "digits" }],
  ["a title", [[issue("a")], [issue("b")]], { "issue title": "whole" }],
  [
    "one file of two",
    [
      [file("1"), file("a", "b")],
      [file("2"), file("a", "b")],
    ],
    { "file report.json text": "digits" },
  ],
  [
    "the order alone",
    [
      [issue("a"), issue("b")],
      [issue("b"), issue("a")],
    ],
    {},
  ],
])("undisturbed runs that differ in %s", (_, worlds, unsteady) => {
  expect(Object.fromEntries(unsteadyFields(worlds))).toEqual(unsteady);
});

test.each<[string, Thing, Thing, "digits" | "whole", number]>([
  ["digits, by digits", issue("run 1"), issue("run 22"), "digits", 0],
  ["digits, by more", issue("run 1"), issue("walk 1"), "digits", 1],
  ["all, by more", issue("run 1"), issue("walk 1"), "whole", 0],
])("a field that is unsteady in %s", (...[, expected, actual, how, changes]) => {
  const { twice, changed, lost } = compareWorlds([expected], [actual], new Map([["issue title", how]]));
  expect([twice.length, changed.length, lost.length]).toEqual([0, changes, 0]);
});
