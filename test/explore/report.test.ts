/** The report of an exploration: the verdict first, then each cause in five lines, the worst first. */
import { expect, test } from "vitest";
import { quoted } from "../../src/explore/explore.ts";
import type { FaultKind } from "../../src/explore/kinds.ts";
import { groupByCause, hasPassed, type Instance, reportOf, type Tally } from "../../src/explore/report.ts";
import { errorLine } from "../../src/explore/start.ts";

interface Made extends Partial<Omit<Instance, "disturbance">> {
  readonly what: Instance["wrong"]["what"];
  readonly fault: FaultKind;
  readonly number?: number;
}
const made = ({ what, fault, number = 1, ...others }: Made): Instance => ({
  wrong: { what, words: `it is ${what}` },
  disturbance: {
    fault,
    request: { operation: "issues.create", number, method: "POST", path: "/projects/web/issues", status: 201 },
  },
  applied: true,
  starts: ["start 1 ended with 1: Error: no", "start 2 ended with 0"],
  ...others,
});
const report = (numbers: Partial<Tally>) =>
  reportOf({
    ...{ runs: 29, requests: 3, right: 0, told: 0, leftOut: 0, unreached: [], findings: [], notes: [] },
    repeat: (only) => `repeat ${only}`,
    ...numbers,
  });

test("a cause is one operation, one problem, and whether the service did it; its shortest run stands for it", () => {
  const findings = groupByCause([
    made({ what: "lost", fault: "lost_before", applied: false }),
    made({ what: "twice", fault: "lost_after" }),
    made({ what: "twice", fault: "killed_after", number: 2, starts: ["start 1 was killed"] }),
    made({ what: "twice", fault: "outage", applied: false }),
  ]);
  expect(findings.map(({ what, fault, faults, only }) => [what, fault, faults.length, only])).toEqual([
    ["twice", "killed_after", 2, "killed_after issues.create 2"],
    ["twice", "outage", 1, "outage issues.create 1"],
    ["lost", "lost_before", 1, "lost_before issues.create 1"],
  ]);
});

test("the text of a cause", () => {
  const findings = groupByCause([
    made({ what: "twice", fault: "lost_after" }),
    made({ what: "twice", fault: "cut_body" }),
  ]);
  expect(report({ findings, notes: ["A note."] }).message).toBe(`Not safe: 1 cause in 29 runs.

1. twice: it is twice
   the first issues.create: its response was lost; the service did it
   start 1 ended with 1: Error: no; start 2 ended with 0
   also by cut_body
   repeat lost_after issues.create 1

A note.`);
});

const FOUND = groupByCause([made({ what: "hangs", fault: "outage" })]);
test.each<[string, Partial<Tally>, boolean]>([
  ["Safe: all 29 runs.", { right: 29 }, true],
  ["Safe: the one run.", { runs: 1, right: 1 }, true],
  ["Safe, but 13 of 29 runs end with something for a person to settle.", { told: 13 }, true],
  ["Nothing was found in 29 runs.\n\nLeft out: 5 of 34 runs.", { right: 29, leftOut: 5 }, true],
  ["Nothing was found, but 13 of 29 runs end with something for a person to settle.", { told: 13, leftOut: 5 }, true],
  ["Nothing was tried: ", { runs: 0 }, false],
  ["Not all was tried: in 2 of 29 runs the request for the fault did not come.", { unreached: ["a", "b"] }, false],
  ["Not safe: 1 cause in 29 runs.", { findings: FOUND }, false],
  ["Not safe: 1 cause in 29 runs.", { findings: FOUND, unreached: ["a"] }, false],
])("%s", (verdict, numbers, safe) => {
  const made = report(numbers);
  expect(made.message.startsWith(verdict)).toBe(true);
  expect(hasPassed(made)).toBe(safe);
  if (numbers.unreached !== undefined) expect(made.message).toMatch(/Not (all was )?tried: (.*\()?a/);
});

test.each([
  ["", ""],
  ["one\ntwo\n", "two"],
  [
    "file.mjs:1\nthrow new Error('no')\n^\n\nTypeError: no\n    at run (file.mjs:1:1)\n\nNode.js v24.1.0\n",
    "TypeError: no",
  ],
  ['Traceback (most recent call last):\n  File "a.py"\nValueError: no\n', "ValueError: no"],
  ["error: Uncaught (in promise) Error: no\n    at file:///a.ts:1:1\n", "error: Uncaught (in promise) Error: no"],
  ["\u001b[31mred\u001b[39m", "?[31mred?[39m"],
  [`Error: ${"x".repeat(200)}`, `Error: ${"x".repeat(152)}…`],
])("the line of an output that names the error: %j", (output, line) => {
  expect(errorLine(output)).toBe(line);
});

test.each([
  ["import.mjs", "import.mjs"],
  ["two words", '"two words"'],
  ['$HOME"`', '"\\$HOME\\"\\`"'],
  ["", '""'],
])("%j as a shell takes it", (word, shown) => {
  expect(quoted(word)).toBe(shown);
});
