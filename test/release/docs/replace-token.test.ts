/** The job of docs/tokens.md that replaces its token, killed at every step: the stored token works, and the old one goes. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Client } from "project-automation";
import { startEmulator } from "project-automation/testing/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createProject, type Project, runProgram, workFolderOf } from "./run.ts";
import { programOf, snippetsOf } from "./snippets.ts";

const recipe = snippetsOf("docs/tokens.md").find(({ code }) => code.includes("oldId"));
/** It kills itself behind the step whose number is in the environment. */
const STEP = 'const step = () => { if (--left === 0) process.kill(process.pid, "SIGKILL"); };';
const program = `let left = Number(process.env["STEPS"]); ${STEP}\n${programOf({
  code: (recipe?.code ?? "").replaceAll(/^(?! *for)(.*\bawait\b.*;)( \/\/.*)?$/gm, "$1 step();"),
  conditions: {},
})}`;
/** What is read, the creation, the first `keep` with its two files, the revocation, and the second `keep`. */
const STEPS = 9;

let project: Project;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => project.remove());

test("the recipe has as many steps as are tried", () => {
  expect(program.match(/step\(\);/g)).toHaveLength(7); // `keep` has two of them, and is called twice
});

test.concurrent.each(Array.from({ length: STEPS + 1 }, (_, index) => index + 1))(
  "killed behind step %i, it ends well at the next run",
  async (step) => {
    await using service = await startEmulator();
    const { baseUrl, token, emulator } = service;
    const first = emulator.tokens.list()[0];
    const place = {
      name: `replace-${step}`,
      code: program
        .replaceAll("pat_key_secret", token)
        .replaceAll('"tok_1"', JSON.stringify(first?.id))
        .replaceAll("2030-01-01T00:00:00Z", new Date(Date.now() + 60_000).toISOString()),
    };
    const run = (steps: number) =>
      runProgram(project, place, { environment: { PROJECT_AUTOMATION_BASE_URL: baseUrl, STEPS: `${steps}` } });
    const killed = await run(step);
    expect(killed.exitCode).toBe(step > STEPS ? 0 : -1);
    const file = join(workFolderOf(project, place.name), "token.json");
    const works = async (plaintext: string): Promise<boolean> =>
      new Client({ baseUrl, token: plaintext }).projects
        .list()
        .toArray()
        .then(
          () => true,
          () => false,
        );
    const stored = (): string => (JSON.parse(readFileSync(file, "utf8")) as { plaintext: string }).plaintext;
    expect(await works(existsSync(file) ? stored() : token)).toBe(true);

    const again = await run(0);
    expect(again).toMatchObject({ exitCode: 0, printed: expect.stringContaining("web") as string });
    expect([await works(stored()), await works(token)]).toEqual([true, false]);
    // A token that nobody stored is what a death between creation and storing costs.
    const isOrphaned = step === 2 || step === 3;
    expect(emulator.requests.filter(({ operation }) => operation === "tokens.create")).toHaveLength(isOrphaned ? 2 : 1);
    rmSync(file);
  },
);
