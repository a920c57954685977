/** The replicas of docs/tokens.md: a provider that is refused while the job is storing the new token waits for the store. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createProject, type Project, problemOf, run } from "./run.ts";
import { snippetsOf } from "./snippets.ts";

const [provider, rotating] = ["TokenProvider = ", "rotatingToken({"].map((part) =>
  snippetsOf("docs/tokens.md").find(({ code }) => code.includes(part)),
);
if (provider === undefined || rotating === undefined) throw new Error("docs/tokens.md has no replicas");

/** A replica's vault is the store of the job. */
const VAULT = `let onRead = () => {};
const load = async () => JSON.parse(await readFile("token.json", "utf8"));
const readSecret = async (_) => (await load().finally(() => onRead())).plaintext;`;
/** The job rotates, and stores once a replica that was refused has looked for the new token. */
const STORED_LATE = `
let late: Promise<unknown> | undefined;
const slow = rotatingToken({
  token: { ...(await load()), expires_at: new Date().toISOString() },
  onRotated: async (replacement) => {
    const { promise: hasRead, resolve } = Promise.withResolvers<void>();
    onRead = resolve;
    late = reader.projects.list().page();
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
  const ofReplica = provider.code.replace(/^import .* from "project-automation";$/m, "");
  const code = [rotating.code, VAULT, ofReplica, STORED_LATE].join("\n");
  const conditions = { prints: ["3 projects", "it waited for the store"] };
  expect(problemOf(await run(project, { ...rotating, code, conditions }), conditions)).toBeUndefined();
});
