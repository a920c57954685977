/** The imports of README and docs/bulk.md, word for word: while a row is left, their exit code is not 0. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Fault } from "../../../src/testing/index.ts";
import { createProject, type Project, run } from "./run.ts";
import { snippetsOf } from "./snippets.ts";

const imports = ["README.md", "docs/bulk.md"]
  .flatMap((document) => snippetsOf(document))
  .filter(({ code }) => code.includes("bulkWrite(") && code.includes("fileJournal("));
const times = Number.POSITIVE_INFINITY;
const FAULTS: readonly { readonly name: string; readonly fault: Fault; readonly left: RegExp }[] = [
  {
    name: "a 429 that lasts an hour",
    fault: { times, status: 429, headers: { "retry-after": "3600" } },
    left: /not sent/,
  },
  { name: "a 404 of a proxy", fault: { times, status: 404, body: "<html>" }, left: /unknown/ },
  { name: "every row is refused", fault: { times, status: 422 }, left: /refused/ },
  { name: "a row is lost", fault: { drop: "after" }, left: /1 unknown/ },
];
const cases = imports.flatMap((snippet) => FAULTS.map((one) => ({ ...one, snippet, place: snippet.place })));

let project: Project;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => project.remove());

test("there are four of them", () => expect(imports).toHaveLength(4));

test.concurrent.each(cases)("$place: $name", async ({ snippet, fault, left }) => {
  const faults = [{ ...fault, operation: "issues.create" } as const];
  const first = await run(project, { ...snippet, conditions: { faults } });
  expect(first.again).toBeDefined();
  for (const { exitCode, printed } of [first, first.again ?? first]) {
    expect(exitCode, printed).toBe(1);
    expect(printed).toMatch(/BulkError: \d of \d items? (is|are) left/);
  }
  expect(first.printed).toMatch(left);
  expect(first.twice).toEqual([]);
});
