/** The report of an exploration: what it holds, by cause, the worst first. */
import { expect, test } from "vitest";
import { beyondSingles, groupByCause, type Instance, reportOf } from "../../../src/testing/node/explore/report.ts";

type Fault = Instance["disturbances"][number];

const fault = (kind: Fault["fault"], index = 0): Fault => ({
  fault: kind,
  request: { operation: "issues.create", index, method: "POST", path: "/projects/web/issues" },
});
const instance = (what: Instance["wrong"]["what"], ...disturbances: readonly Fault[]): Instance => ({
  wrong: { what, words: `it is ${what}` },
  disturbances,
  applied: true,
  starts: ["resolved"],
});

test.each<[string, readonly Instance[], number]>([
  ["the first shows the same alone", [instance("twice", fault("lost_after"))], 0],
  ["the second shows the same alone", [instance("twice", fault("unavailable", 1))], 0],
  ["one alone shows something else", [instance("lost", fault("lost_after"))], 1],
  ["another request shows the same alone", [instance("twice", fault("lost_after", 2))], 1],
  ["neither shows anything alone", [], 1],
])("a finding of two faults: %s", (_, singles, left) => {
  const pair = instance("twice", fault("lost_after"), fault("unavailable", 1));
  expect(beyondSingles([...singles, pair]).filter(({ disturbances }) => disturbances.length === 2)).toHaveLength(left);
  expect(beyondSingles([...singles, pair])).toEqual(expect.arrayContaining([...singles]));
});

test("requests of endpoints without a name are told apart by method and path", () => {
  const at = (path: string, index: number): Fault => ({
    fault: "lost_after",
    request: { operation: undefined, index, method: "POST", path },
  });
  const pair = instance("twice", at("/one", 0), at("/two", 0));
  expect(beyondSingles([instance("twice", at("/three", 0)), pair])).toContain(pair);
});

test("findings stand by cause, the worst first, each with its count and its shortest instance", () => {
  const found = groupByCause(
    [
      instance("lost", fault("lost_before")),
      instance("twice", fault("lost_after"), fault("unavailable", 1)),
      instance("twice", fault("lost_after")),
    ],
    ({ disturbances }) => `${disturbances.length}`,
  );
  expect(found.map(({ what, runs, script }) => [what, runs, script])).toEqual([
    ["twice", 2, "1"],
    ["lost", 1, "1"],
  ]);
});

test.each([
  [{ runs: 7, right: 7, told: 0 }, "Safe: all 7 runs."],
  [{ runs: 7, right: 5, told: 2 }, "Safe, but 2 of 7 runs need a person."],
])("the verdict comes first: %j", (numbers, verdict) => {
  const { message } = reportOf({ ...numbers, unreached: 0, requests: 1, findings: [], notes: ["A note."] });
  expect(message).toBe(`${verdict}\n\nA note.`);
});
