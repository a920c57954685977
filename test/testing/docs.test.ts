import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resolveConventions } from "../../src/testing/conventions.ts";
import { createEmulator } from "../../src/testing/index.ts";

const root = join(import.meta.dirname, "../..");
const text = readFileSync(join(root, "docs/emulator.md"), "utf8");

const sources: Readonly<Record<string, string>> = {
  "project-automation": "src/index.ts",
  "project-automation/testing": "src/testing/index.ts",
  "project-automation/testing/node": "src/testing/node.ts",
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "snippets-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("docs/emulator.md", () => {
  const blocks = (language: string): string[] =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(([, code = ""]) => code);

  test("has snippets that run, and print what they say", () => {
    const snippets = blocks("ts").map((code) =>
      code.replaceAll(/from "(project-automation[^"]*)"/g, (_, door: string) => {
        return `from ${JSON.stringify(pathToFileURL(join(root, sources[door] ?? "")).href)}`;
      }),
    );
    expect(snippets).toHaveLength(6);
    const files = snippets.map((code, index) => {
      const file = join(folder, `snippet-${index}.ts`);
      writeFileSync(file, code);
      return pathToFileURL(file).href;
    });
    const program = `for (const file of ${JSON.stringify(files)}) await import(file);`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("[ 200, 429, 200 ]");
    expect(stdout).toContain("revoked own_");
  });

  test("has a seed that works", () => {
    const [seed = ""] = blocks("json");
    const emulator = createEmulator(JSON.parse(seed) as object);
    expect(emulator.sessions.get("ses_1")?.state).toBe("waiting");
    expect(emulator.issues.list("team/api")).toHaveLength(1);
  });

  test("lists every convention as it is", () => {
    const { refusals, successStatus, tokenLifetimeDays, maxTokenLifetimeDays } = resolveConventions(undefined);
    for (const [reason, { status, code }] of Object.entries(refusals)) {
      expect(text).toContain(`\n| \`${reason}\` | ${status} | \`${code}\` |`);
    }
    for (const [operation, status] of Object.entries(successStatus)) {
      expect(text).toContain(`\n| \`${operation}\` | ${status} |\n`);
    }
    expect(text).toContain(`\`tokenLifetimeDays\` (${tokenLifetimeDays})`);
    expect(text).toContain(`\`maxTokenLifetimeDays\` (${maxTokenLifetimeDays})`);
  });
});
