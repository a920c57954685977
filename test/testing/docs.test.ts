import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createEmulator, resolveConventions } from "../../src/testing/index.ts";
import { EMULATOR } from "../../src/testing/node/command.ts";
import { OPTIONS, resolveOptions } from "../../src/testing/options.ts";

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

  const conventions = resolveConventions();
  const { refusals, successStatus, extraFields, rateLimitHeaders, cors, ...plain } = conventions;
  const named = (section: string, values: object): [string, unknown][] =>
    Object.entries(values).map(([name, value]) => [`${section}.${name}`, value]);
  /** First cells of the rows of a section's table. */
  const rows = (heading: string): (string | undefined)[] => {
    const [, section = ""] = text.split(`\n### ${heading}\n`);
    const table = section.split("\n### ", 1)[0] ?? "";
    return [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name);
  };

  test("lists every error response as it is, and no other", () => {
    for (const [reason, { status, code }] of Object.entries(refusals)) {
      expect(text).toContain(`\n| \`${reason}\` | ${status} | \`${code}\` |`);
    }
    expect(rows("Refusals: `refusals`").sort()).toEqual(Object.keys(refusals).sort());
  });

  test("lists every status of success as it is, and no other", () => {
    for (const [operation, status] of Object.entries(successStatus)) {
      expect(text).toContain(`\n| \`${operation}\` | ${status} |\n`);
    }
    expect(rows("Success: `successStatus`")).toEqual(Object.keys(successStatus));
  });

  test("lists every other convention with its default, and no other", () => {
    const all = [...Object.entries(plain), ...named("rateLimitHeaders", rateLimitHeaders), ...named("cors", cors)];
    for (const [name, value] of all) {
      expect(text).toContain(`\n| \`${name}\` | \`${JSON.stringify(value)}\` |`);
    }
    expect(rows("Lists, headers and defaults").sort()).toEqual(all.map(([name]) => name).sort());
  });

  test("names every record that can have extra fields", () => {
    const [, section = ""] = text.split("\n### Extra fields: `extraFields`\n");
    for (const name of Object.keys(extraFields)) expect(section.split("\n### ", 1)[0]).toContain(`\`${name}\``);
  });

  test("lists every flag of the program, and every option that a seed may hold", () => {
    const flags = [...EMULATOR.help.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag = ""]) => flag);
    for (const flag of flags) expect(text).toContain(`\`${flag}`);
    const [, list = ""] = /JSON can express: ([^.]*)\./.exec(text) ?? [];
    const seedable = Object.keys(OPTIONS).filter((name) => !["now", "random", "baseUrl", "onRequest"].includes(name));
    expect([...list.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(seedable.sort());
  });

  test("lists every option, and no other", () => {
    const [, section = ""] = text.split("\n## Options\n");
    const [table = ""] = section.split("\n## ", 1);
    const cells = [...table.matchAll(/^\| (`.+?) \|/gm)].map(([, cell = ""]) => cell);
    const named = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(named.sort()).toEqual(Object.keys(OPTIONS).sort());
  });

  test("says how much the log keeps", () => {
    const { logLimit, logBytes } = resolveOptions();
    expect([logLimit, logBytes]).toEqual([100_000, 64 * 1024 * 1024]);
    expect(text).toContain("(100 000)");
    expect(text).toContain("(64 MiB)");
  });
});
