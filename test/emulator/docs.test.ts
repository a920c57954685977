import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PAGES } from "../../scripts/generated-pages.ts";
import { EMULATOR } from "../../src/emulator/node/command.ts";
import { OPTIONS } from "../../src/emulator/options.ts";
import { EXPLORE } from "../../src/explore/command.ts";
import { resolveConventions } from "../../src/testing/index.ts";

/** The text of a page, also of a clone of Windows. */
const read = (path: string): string =>
  readFileSync(join(import.meta.dirname, "../..", path), "utf8").replaceAll("\r\n", "\n");
const reference = read("docs/reference/emulator.md");
const guide = read("docs/testing.md");

describe("the reference pages", () => {
  test.each(Object.entries(PAGES))("%s is what the script makes of the code", (path, text) => {
    expect(read(path)).toBe(text);
  });

  // The script reads docstrings: what has none would be missing without a word.
  const { refusals, rateLimitHeaders, cors, ...others } = resolveConventions();
  const inSentences = ["successStatus", "extraFields"];
  const paths = (section: string, values: object): string[] => Object.keys(values).map((name) => `${section}.${name}`);
  test.each<[string, readonly string[]]>([
    ["option", Object.keys(OPTIONS)],
    ["convention", Object.keys(others).filter((name) => !inSentences.includes(name))],
    ["convention with parts", [...paths("rateLimitHeaders", rateLimitHeaders), ...paths("cors", cors)]],
    ["refusal", Object.keys(refusals)],
  ])("list every %s, with words", (_, names) => {
    expect(names.length).toBeGreaterThan(4);
    for (const name of names) {
      const row = reference.split("\n").find((line) => line.startsWith(`| \`${name}`));
      expect(row, name).toMatch(/^\| `[^|]+\|.*\w.* \|$/);
    }
  });
});

describe("the guide", () => {
  test("shows flags that the program has", () => {
    const flags = [...guide.matchAll(/(?<=emulator.*|`)(--[a-z-]+)/g)].map(([, flag = ""]) => flag);
    expect(flags).toContain("--dotenv");
    const help = EMULATOR.help + EXPLORE.help;
    for (const flag of flags.filter((one) => one !== "--env-file")) expect(help).toContain(`  ${flag} `);
  });
});
