/** CONTRIBUTING shows what a new operation touches by a change that could be made: it must still apply, compile and work. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "./snippets.ts";

const change = join(root, "docs", "adding-an-operation.diff");
const touched = [...readFileSync(change, "utf8").matchAll(/^\+\+\+ b\/(.*)$/gm)].map(([, file = ""]) => file);

const PROGRAM = `
import { Client } from "./src/client/index.ts";
import { createEmulator } from "./src/testing/index.ts";

const emulator = createEmulator({ projects: [{ name: "a/b" }] });
const client = new Client({ baseUrl: emulator.baseUrl, token: emulator.token, fetch: emulator.fetch });
console.log((await client.projects.get("a/b")).name, emulator.requests[0]?.operation);
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "project-automation-operation-"));
  for (const path of ["src", ...touched]) cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: join(root, "tsconfig.json"), include: ["src", "program.ts"], exclude: [] }),
  );
  writeFileSync(join(folder, "program.ts"), PROGRAM);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (command: string, ...args: readonly string[]): string =>
  execFileSync(command, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

test("the change that CONTRIBUTING shows applies, compiles, and adds an operation that works", () => {
  expect(() => run(process.execPath, "program.ts")).toThrow(/projects\.get is not a function/);
  run("git", "apply", "-C1", change);
  run(process.execPath, join(root, "node_modules", "typescript-7", "bin", "tsc"), "--singleThreaded");
  expect(run(process.execPath, "program.ts")).toBe("a/b projects.get\n");
});
