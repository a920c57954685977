/** Programs as users write them: each that is wrong is found, none that is right is accused, and every time it is the same. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NODE, OTHER_PLATFORMS } from "../../support/platforms.ts";
import { createPlace, type Place } from "./command.ts";

let place: Place;
beforeAll(() => {
  place = createPlace();
});
afterAll(() => place[Symbol.dispose]());

const FLAGS: Readonly<Record<string, readonly string[]>> = {
  "walk-stops-early.mjs": ["--compare", "names.json"],
  "never-ends.mjs": ["--fault", "lost_before"],
  "report.mjs": ["--compare", "report.json"],
  "prints-names.sh": ["--compare", "-"],
};
const RUNNERS: Readonly<Record<string, string>> = { mjs: "node", sh: "sh", py: "python3" };
const lineOf = (program: string): string[] => {
  const [, ending = ""] = program.split(".");
  return [...(FLAGS[program] ?? []), "--", RUNNERS[ending] ?? "", program];
};

/** Each with its kinds of findings, the worst first, and a fault that shows the first of them. */
test.each<[string, string[], string]>([
  ["retry-loop.mjs", ["twice"], "lost_after"],
  ["all-settled.mjs", ["twice", "lost"], "killed_after"],
  ["marked-before.mjs", ["lost"], "killed_before"],
  ["marked-after.mjs", ["twice"], "killed_after"],
  ["exit-in-the-middle.mjs", ["twice", "lost"], "killed_after"],
  ["walk-stops-early.mjs", ["changed"], "unavailable"],
  ["never-ends.mjs", ["hangs"], "lost_before"],
  ["post-again.sh", ["twice"], "lost_after"],
  ["kept-token.mjs", ["twice", "locked_out"], "lost_after"],
  ["left-token.mjs", ["changed"], "outage"],
])("found, three times: %s", async (program, kinds, fault) => {
  for (let time = 0; time < 3; time += 1) {
    const found = await place.explore(lineOf(program));
    expect(found).toMatchObject({ status: 1, kinds, report: { unreached: [] } });
    expect(found.report.findings.flatMap(({ what, faults }) => (what === kinds[0] ? faults : []))).toContain(fault);
  }
});

/** Each with its runs, and those in which it says that it is not done. */
test.each<[string, number, number]>([
  ["bulk-with-journal.mjs", 37, 24],
  ["keeps-books.py", 20, 16],
  ["report.mjs", 14, 0],
  ["error-in-a-callback.mjs", 10, 9],
  ["prints-names.sh", 7, 0],
])("not accused, three times: %s", async (program, runs, told) => {
  for (let time = 0; time < 3; time += 1) {
    const { status, report } = await place.explore(lineOf(program));
    expect([report.findings.map(({ message }) => message), report.unreached]).toEqual([[], []]);
    expect({ status, runs: report.runs, told: report.told }).toEqual({ status: 0, runs, told });
  }
});

describe.each(OTHER_PLATFORMS)("$name", ({ platform }) => {
  test("runs a program that is explored", async () => {
    expect(await place.explore(["--", ...platform, "posts-again.mjs"])).toMatchObject({ status: 1, kinds: ["twice"] });
    expect(await place.explore(["--", ...platform, "posts-once.mjs"])).toMatchObject({ status: 0, kinds: [] });
  });
});

test.each(OTHER_PLATFORMS.filter(({ name }) => name === "Bun"))(
  "$name runs the command itself",
  async ({ platform }) => {
    expect(await place.explore(["--", ...NODE, "posts-again.mjs"], platform)).toMatchObject({
      status: 1,
      kinds: ["twice"],
    });
    expect(await place.explore(["--", ...NODE, "posts-once.mjs"], platform)).toMatchObject({ status: 0, kinds: [] });
  },
);
