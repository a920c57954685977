import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DOCTOR } from "../../src/doctor/node/command.ts";
import { PROBES } from "../../src/doctor/probes.ts";

const guide = readFileSync(join(import.meta.dirname, "../../docs/doctor.md"), "utf8");

describe("the guide", () => {
  test("lists every question, in order, with what is assumed", () => {
    const rows = PROBES.map(({ id, question, assumes }) => `| \`${id}\` | ${question} | ${assumes} |\n`);
    expect(guide.endsWith(rows.join(""))).toBe(true);
  });

  test("names no question that does not exist", () => {
    const ids = new Set(PROBES.map(({ id }) => id));
    const [, lookUp = ""] = guide.split("## When something looks wrong");
    const [table = ""] = lookUp.split("\n\nIf the doctor");
    const cells = table.split("\n").map((row) => row.split("|")[2] ?? "");
    const named = cells.flatMap((cell) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, id]) => id));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((id) => !ids.has(id ?? ""))).toEqual([]);
  });

  test("shows the flags and exit codes that the program has", () => {
    for (const flag of DOCTOR.help.match(/^ {2}--(?:base-url|write|json|out).*?(?= {2})/gm) ?? []) {
      expect(guide).toContain(`\`${flag.trim()}\``);
    }
    expect(DOCTOR.help).toContain(
      "0 nothing contradicts the contract, 1 something does, 2 the deployment could not be asked",
    );
  });
});
