/** `explore` of a test: its options, and what it rejects with. The programs need no package. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ExplorationError, type ExploreOptions, explore } from "../../src/testing/node.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "explored-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A program that asks for an issue with a title of its environment, and for nothing else. */
const POST = `
const { PROJECT_AUTOMATION_BASE_URL: url, PROJECT_AUTOMATION_TOKEN: token, TITLE: title = "one" } = process.env;
const headers = { authorization: "Bearer " + token, "content-type": "application/json" };
const post = () => fetch(url + "/projects/web/issues", { method: "POST", headers, body: JSON.stringify({ title, type: "bug" }) });`;

function program(code: string): ExploreOptions {
  writeFileSync(join(folder, "program.mjs"), `${POST}\n${code}`);
  return { command: [process.execPath, "program.mjs"], folder, faults: ["lost_after"] };
}

test("rejects with the report; its error begins in the line that called it", async () => {
  const options = program("await post().catch(post);");
  const error = await explore(options).catch((caught: unknown) => caught);
  if (!(error instanceof ExplorationError)) throw error;
  expect(error.report).toMatchObject({ runs: 1, requests: 1, findings: [{ what: "twice", fault: "lost_after" }] });
  expect(error.message).toContain("Not safe: 1 cause in 1 run.");
  expect(/^ {4}at .*/m.exec(error.stack ?? "")?.[0]).toContain("explore.test.ts");
});

test("resolves with the report of a safe program, and tells of its progress", async () => {
  const progress: string[] = [];
  const report = await explore({
    ...program("await post();"),
    faults: ["lost_before"],
    onProgress: ({ runs, planned, wrong }) => progress.push(`${runs} of ${planned}, ${wrong} wrong`),
  });
  expect(report).toMatchObject({ runs: 1, right: 1, told: 0, unreached: [], findings: [] });
  expect(progress).toEqual(["1 of 1, 0 wrong"]);
});

test("a start that ended with 0 is followed by one more, also if the fault has hit it", async () => {
  const options = program(`
import { existsSync, writeFileSync } from "node:fs";
if (!existsSync("done")) await post().then(() => writeFileSync("done", ""), () => {});`);
  const error = await explore(options).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ report: { findings: [{ what: "twice" }] } });
  expect((error as Error).message).toContain("twice, not once, after one more start");
});

test("the runs that are left out are named beside the verdict", async () => {
  const reads = 'for (let page = 1; page <= 61; page++) await fetch(url + "/projects", { headers });';
  const { message } = await explore({ ...program(reads), faults: ["lost_before"] });
  expect(message).toContain("Nothing was found in 2 runs.");
  expect(message).toContain("Left out: 59 of 61 runs. --all makes them.");
});

test("each run has variables of its own, and what differs between undisturbed runs is named", async () => {
  const prepared: string[] = [];
  const report = await explore({
    ...program("await post(); console.log(title);"),
    faults: ["lost_before"],
    compare: ["-"],
    prepare: (copy) => {
      prepared.push(copy);
      return { TITLE: `title ${prepared.length}` };
    },
  });
  expect(new Set(prepared).size).toBe(4); // three undisturbed runs, and one with the fault
  expect(report.right).toBe(1);
  expect(report.message).toContain("Not compared, since undisturbed runs differ: issue title (digits).");
  expect(report.message).toContain("Not compared, since undisturbed runs differ: file standard output text (digits).");
});

test("the options of the emulator are those of each run", async () => {
  const options = {
    ...program("process.exitCode = (await post()).status === 201 ? 0 : 5;"),
    emulator: { projects: 0 },
  };
  await expect(explore(options)).rejects.toThrow("the undisturbed program ended with 5");
});

test("a signal ends it, also while prepare hangs", async () => {
  const ending = new AbortController();
  const prepare = (): Promise<never> => {
    ending.abort(new Error("enough"));
    return new Promise(() => {});
  };
  await expect(explore({ ...program("await post();"), signal: ending.signal, prepare })).rejects.toThrow("enough");
});

test.each<[object, RegExp]>([
  [{}, /options.command must be a program and its arguments/],
  [{ command: "node import.mjs" }, /options.command must be a program and its arguments/],
  [{ command: ["node"], faults: ["lost"] }, /options.faults must be an array of lost_before, /],
  [{ command: ["node"], jobs: 0 }, /options.jobs must be an integer from 1/],
  [{ command: ["node"], depth: 2 }, /depth/],
])("%j is refused in the line that called it", async (options, words) => {
  const error = await explore(options as ExploreOptions).catch((caught: unknown) => caught);
  if (!(error instanceof TypeError)) throw error;
  expect(error.message).toMatch(words);
  expect(/^ {4}at .*/m.exec(error.stack ?? "")?.[0]).toContain("explore.test.ts");
});
