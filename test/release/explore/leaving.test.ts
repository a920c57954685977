/** What an exploration leaves behind: nothing, however it ends. And the exit codes of the ways in which it cannot begin. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPlace, type Place } from "./command.ts";

let place: Place;
beforeAll(() => {
  place = createPlace();
});
afterAll(() => place[Symbol.dispose]());

/** The processes whose command line has this word. */
const processesWith = (word: string): string[] =>
  execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(word) && !line.includes("bin.js"));

test.each([
  ["SIGINT", "group", 130],
  ["SIGINT", "process", 130],
  ["SIGTERM", "process", 143],
  ["SIGHUP", "group", 129],
] as const)("%s to the %s ends all of it, with %i", async (signal, to, status) => {
  const word = `mark-of-${signal}-${to}`;
  const command = place.start(["--", "node", "never-ends.mjs", word]);
  await expect.poll(() => processesWith(word).length).toBeGreaterThan(0);
  // npm repeats to its child what the group has got.
  const { pid = 0 } = command.child;
  process.kill(to === "group" ? -pid : pid, signal);
  process.kill(pid, signal);
  expect(await command.ended).toBe(status);
  expect(command.stderr).toContain("interrupted before the first run with a fault");
  expect(place.copies()).toEqual([]);
  expect(processesWith(word)).toEqual([]);
});

test.each<[string, readonly string[], number, RegExp]>([
  ["no command", [], 2, /needs a command/],
  ["a kind that is none", ["--fault", "lost", "--", "node", "report.mjs"], 2, /--fault must be one of lost_before, /],
  ["a run and a kind", ["--only", "a", "--all", "--", "node", "report.mjs"], 2, /--only names one run/],
  [
    "a run that is none",
    ["--only", "lost_after issues.create 4", "--", "node", "retry-loop.mjs"],
    3,
    /there is no run/,
  ],
  ["a missing command", ["--", "no-such-program"], 127, /cannot run "no-such-program"/],
  ["one that cannot be run", ["--", "./folder"], 126, /not executable/],
  [
    "a program that fails",
    ["--", "node", "no-such-file.mjs"],
    3,
    /the undisturbed program ended with 1: Error: Cannot find/,
  ],
  ["one that sends nothing", ["--", "true"], 3, /sent no request to PROJECT_AUTOMATION_BASE_URL/],
  ["one that does not end", ["--timeout", "1", "--", "sleep", "30"], 3, /was not over after 1 s; a daemon needs/],
  ["a file that it does not make", ["--compare", "names.txt", "--", "node", "report.mjs"], 3, /does not make the file/],
])("%s: the exit code", async (...[, args, status, words]) => {
  mkdirSync(join(place.folder, "folder"), { recursive: true });
  const command = place.start(args);
  expect(await command.ended).toBe(status);
  expect(command.stderr).toMatch(words);
  expect(place.copies()).toEqual([]);
});

test("one run is shown: each start, its output and requests, and what is there at the end", async () => {
  const only = "lost_after issues.create 1";
  const command = place.start(["--only", only, "--", "node", "posts-again.mjs"]);
  expect(await command.ended).toBe(1);
  expect(command.stderr).toMatch(
    /^the program starts\n.* dropped POST .*\n.* 201 POST .*\nthe program ended with 0\n\nthe program starts\n.* 201 POST .*\nthe program ended with 0\n\nat the end:\n( {2}the issue "one".*\n){3}/m,
  );
  expect(command.stdout).toContain("Not safe: 1 cause in 1 run.");
  expect(command.stdout).toContain(`npx project-automation explore --only "${only}" -- node posts-again.mjs\n`);
});

test("a fault whose request does not come is no safe one", async () => {
  const outside = join(place.folder, "..", `${Date.now()}-count`);
  writeFileSync(
    join(place.folder, "by-chance.sh"),
    `echo >> ${outside}; [ $(wc -l < ${outside}) -gt 6 ] && exit 0
curl -s -o /dev/null -H "authorization: Bearer $PROJECT_AUTOMATION_TOKEN" "$PROJECT_AUTOMATION_BASE_URL/projects"`,
  );
  const { status, report } = await place.explore(["--", "sh", "by-chance.sh"]);
  expect(status).toBe(1);
  expect(report.message).toMatch(/^Not all was tried: in 7 of 7 runs the request for the fault did not come\./);
});
