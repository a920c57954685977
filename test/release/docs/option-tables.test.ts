/** Tables of names and defaults: an option, a default, a fault or a verdict of the code has a row, and each row is one of them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { membersOf } from "../../../scripts/generated-pages.ts";
import { KINDS } from "../../../src/testing/node/explore/fault-kinds.ts";
import { WORST_FIRST } from "../../../src/testing/node/explore/judge.ts";
import { root } from "./snippets.ts";
import { tableOf } from "./tables.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const codesIn = (cell = ""): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

const plain = (value = ""): string => value.replaceAll(/[`"_,\s]/g, "");

const TABLES = [
  { page: "docs/bulk.md", first: "option", file: "src/bulk/options.ts", name: "BulkOptions" },
  { page: "docs/shared-limits.md", first: "Option", file: "src/redis/options.ts", name: "RedisRateLimiterOptions" },
  { page: "docs/agents.md", first: "option", file: "src/mcp/server.ts", name: "McpServerOptions" },
  {
    page: "docs/tokens.md",
    first: "Option",
    file: "src/core/token/rotating-token-options.ts",
    name: "RotatingTokenOptions",
  },
];
/** What the text of docs/bulk.md explains: the parts of every run, and a function with a chapter of its own. */
const IN_THE_TEXT = ["client", "items", "key", "send", "journal", "resolveUnknown"];

describe.each(TABLES)("$page, the options", ({ page, first, file, name }) => {
  const members = new Map(membersOf(file, `interface ${name}`).map((member) => [member.name, member.standard]));
  const told = tableOf(page, first).rows.flatMap(([options, values = ""]) => {
    const defaults = values.split(/,(?!\d)/);
    return codesIn(options).map(
      (option, index, all) => [option, defaults[defaults.length - all.length + index] ?? ""] as const,
    );
  });

  test("are those of the code", () => {
    const named = told.map(([option]) => option);
    const expected =
      page === "docs/bulk.md" ? [...members.keys()].filter((one) => !IN_THE_TEXT.includes(one)) : [...members.keys()];
    expect([...named].sort()).toEqual([...expected].sort());
  });

  test("have the defaults of the code", () => {
    const DAY = "86400000";
    for (const [option, value] of told) {
      const standard = plain(members.get(option)?.split(" ")[0]);
      if (standard !== "") expect(plain(value), option).toBe(standard === DAY ? "oneday" : standard);
      else expect(["", "all", "none"], option).toContain(plain(value));
    }
  });
});

test("docs/testing.md, what an exploration finds, the worst first", () => {
  expect(tableOf("docs/testing.md", "`what`").rows.map(([what]) => codesIn(what)[0])).toEqual(WORST_FIRST);
});

test("docs/testing.md names each fault of an exploration", () => {
  const [, told = ""] = /\*\*`faults` names the ways to fail\.\*\*(.*?)\n- /s.exec(read("docs/testing.md")) ?? [];
  expect(codesIn(told).sort()).toEqual(Object.keys(KINDS).sort());
});

test("docs/doctor.md, the verdicts of a question", () => {
  const [, body = ""] = /VERDICTS[^{]*\{(.*?)\}/s.exec(read("src/doctor/report.ts")) ?? [];
  const words = [...body.matchAll(/: "([^"]+)"/g)].map(([, word]) => word).sort();
  expect(
    tableOf("docs/doctor.md", "verdict of a question")
      .rows.map(([word = ""]) => word.replaceAll("`", ""))
      .sort(),
  ).toEqual(words);
});
