import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { resolveConventions } from "../../src/testing/resolve-conventions.ts";
import { createEmulator } from "../../src/testing/index.ts";

const root = join(import.meta.dirname, "../..");
const text = readFileSync(join(root, "docs/emulator.md"), "utf8");

describe("docs/emulator.md", () => {
  const blocks = (language: string): string[] =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(([, code = ""]) => code);

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
