/** The public declarations, as they were last agreed on: no name and no type moves unseen. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ENTRY_POINTS } from "../../../config/entry-points.ts";

const repository = resolve(import.meta.dirname, "../../..");
const agreed = resolve(import.meta.dirname, "api");
let present: string;
beforeAll(() => {
  present = mkdtempSync(join(tmpdir(), "project-automation-"));
  execFileSync(process.execPath, ["scripts/api-report.mjs", present], { cwd: repository });
});
afterAll(() => rmSync(present, { recursive: true, force: true }));

test("there is a report of every entry point, and no other", () => {
  const reports = ENTRY_POINTS.map(({ name }) => (name === "." ? "index" : name.slice(2).replaceAll("/", "-")));
  expect(readdirSync(agreed).sort()).toEqual(reports.map((report) => `${report}.txt`).sort());
});

test.each(ENTRY_POINTS)("the declarations of $name are those of its report", ({ name }) => {
  const file = `${name === "." ? "index" : name.slice(2).replaceAll("/", "-")}.txt`;
  const hint =
    "the public declarations have changed: if they should, run npm run api-report, and say it in CHANGELOG.md";
  expect(readFileSync(join(present, file), "utf8"), hint).toBe(readFileSync(join(agreed, file), "utf8"));
});
