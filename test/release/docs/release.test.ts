/** CONTRIBUTING says how a release is made: `npm version`, in a copy of what it changes. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { root } from "./snippets.ts";

const COPIED = [
  "package.json",
  "package-lock.json",
  "CHANGELOG.md",
  "src/client/version.ts",
  "scripts/version.mjs",
  "tools/node",
];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "project-automation-release-"));
  for (const path of COPIED) cpSync(join(root, path), join(folder, path), { recursive: true });
  run("git", "init", "--quiet");
  run("git", "config", "user.name", "Somebody");
  run("git", "config", "user.email", "somebody@example.com");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function run(command: string, ...args: readonly string[]): string {
  // The npm that runs this suite hands its settings on, its prefix among them.
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_|^GIT_/i.test(name));
  return execFileSync(command, args, {
    cwd: folder,
    env: Object.fromEntries(inherited),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

const textOf = (file: string): string => readFileSync(join(folder, file), "utf8");
const commit = (): string => run("git", "add", "--all") + run("git", "commit", "--quiet", "--message", "Before");

const CHANGES = "# Changelog\n\n## Unreleased\n\n### Added\n\n- Something.\n\n## 0.0.1 – 2026-01-01\n";

test("npm version makes the version, its changelog, a commit and a tag", () => {
  writeFileSync(join(folder, "CHANGELOG.md"), CHANGES);
  commit();
  run("npm", "version", "7.8.9");
  for (const file of ["package.json", "package-lock.json"]) {
    expect(JSON.parse(textOf(file))).toMatchObject({ version: "7.8.9" });
  }
  expect(textOf("src/client/version.ts")).toContain('VERSION = "7.8.9"');
  expect(textOf("CHANGELOG.md")).toMatch(
    /^# Changelog\n\n## Unreleased\n\n## 7\.8\.9 – \d{4}-\d\d-\d\d\n\n### Added\n\n- Something\.\n\n## 0\.0\.1/,
  );
  expect(run("git", "tag").trim()).toBe("v7.8.9");
  expect(run("git", "status", "--porcelain")).toBe("");
}, 30_000);

test("a version without an entry in the changelog is not released", () => {
  writeFileSync(join(folder, "CHANGELOG.md"), CHANGES.replace("### Added\n\n- Something.\n\n", ""));
  commit();
  expect(() => run("npm", "version", "7.8.9")).toThrow(/CHANGELOG\.md has nothing/);
  expect(run("git", "tag").trim()).toBe("");
}, 30_000);

test("the changelog has something unreleased, or begins with this version", () => {
  const { version } = JSON.parse(textOf("package.json")) as { version: string };
  expect(textOf("CHANGELOG.md")).toMatch(
    new RegExp(`^## Unreleased\n\n((?!## )\\S|## ${version.replaceAll(".", "\\.")} )`, "m"),
  );
});
