/** The replicas of docs/tokens.md: one that is refused while the job is storing the new token waits for the store. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createProject, type Project, problemOf, run } from "./run.ts";
import { snippetsOf } from "./snippets.ts";

const recipe = snippetsOf("docs/tokens.md").find(({ code }) => code.includes("// Every replica:"));
if (recipe === undefined) throw new Error("docs/tokens.md has no replicas");

const READS = "(await load()).plaintext";
const TELLS = "(await load().finally(() => onRead())).plaintext";
/** The job rotates again, and stores once a replica that was refused has looked for the new token. */
const STORED_LATE = `
let late: Promise<unknown> | undefined;
const slow = rotatingToken({
  token: { ...(await load()), expires_at: new Date().toISOString() },
  onRotated: async (replacement) => {
    const { promise: hasRead, resolve } = Promise.withResolvers<void>();
    onRead = resolve;
    late = replica.projects.list().page();
    await hasRead;
    await save(replacement);
  },
});
await new Client({ token: slow }).projects.list().page();
await late;
console.log("it waited for the store");`;

let project: Project;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => project.remove());

test("a replica waits for a new token that is not stored yet", async () => {
  expect(recipe.code).toContain(READS);
  const code = `let onRead = () => {};\n${recipe.code.replaceAll(READS, TELLS)}${STORED_LATE}`;
  const conditions = { prints: "it waited for the store" };
  expect(problemOf(await run(project, { ...recipe, code, conditions }), conditions)).toBeUndefined();
});
