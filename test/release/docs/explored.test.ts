/** Every snippet that writes, when each of its requests fails once: nothing is wrong, or the page says which. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { explore, writes } from "./explored.ts";
import { createProject, type Project } from "./run.ts";
import { documents, snippetsOf } from "./snippets.ts";

let project: Project;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => project.remove());

const writers = documents
  .map((document) => ({ document, snippets: snippetsOf(document).filter(writes) }))
  .filter(({ snippets }) => snippets.length > 0);

test.each(writers)("in $document", async ({ snippets }) => {
  const said = Object.fromEntries(snippets.map(({ place, conditions }) => [place, conditions.findings ?? []]));
  expect(await explore(project, snippets)).toEqual(said);
});
