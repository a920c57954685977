/** Every snippet that writes, when each of its requests fails once: nothing is wrong, or the page says which. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { explore, findingsOf, writes } from "./explored.ts";
import { createProject, type Project } from "./run.ts";
import { documents, root, snippetsOf } from "./snippets.ts";

let project: Project;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => project.remove());

const writers = documents.flatMap((document) => snippetsOf(document).filter(writes));

test.each(writers)("$place", async (snippet) => {
  expect(await findingsOf(project, snippet)).toEqual(snippet.conditions.findings ?? []);
});

test("the report in docs/testing.md is that of the program there", async () => {
  const page = "docs/testing.md";
  const program = writers.find(({ place, code }) => place.startsWith(page) && code.includes("Row"));
  if (program === undefined) throw new Error("the program is not there");
  const report = await explore(project, program, { file: "import.mjs", flags: [] });
  expect(readFileSync(join(root, page), "utf8")).toContain(`\n${report}\`\`\``);
});
