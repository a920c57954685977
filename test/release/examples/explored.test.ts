/** Examples that write, each in a process of its own, when each of their requests fails once. */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createEmulator } from "project-automation/testing";
import { ExplorationError, type ExplorationReport, explore } from "project-automation/testing/node";
import { expect, test } from "vitest";
import { NODE } from "../../support/platforms.ts";
import { temporaryFolder } from "./program.ts";

const EXAMPLES = resolve(import.meta.dirname, "../../../examples");
/** The first token of an emulator has the same id in each of them. */
const id = createEmulator().tokens.list()[0]?.id;

/** What the example finds in its folder: rows, and a token that is of this run. */
const ROWS = "project,title,type\nweb,It breaks,bug\napi,It is slow,bug\n";
const beginning = (script: string): string => `
import { existsSync, writeFileSync } from "node:fs";
const plaintext = process.env.PROJECT_AUTOMATION_TOKEN;
const expires_at = new Date(Date.now() + 3_600_000).toISOString();
if (process.argv[2] !== "create" && !existsSync("token.json"))
  writeFileSync("token.json", JSON.stringify({ id: "${id}", plaintext, expires_at }));
await import(${JSON.stringify(join(EXAMPLES, script))});
`;

async function reportOf(script: string, args: readonly string[]): Promise<ExplorationReport> {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "rows.csv"), ROWS);
  writeFileSync(join(folder.path, "start.mjs"), beginning(script));
  try {
    return await explore({ command: [...NODE, "start.mjs", ...args], folder: folder.path });
  } catch (error) {
    if (error instanceof ExplorationError) return error.report;
    throw error;
  }
}

test.each([
  { script: "bulk-issues.ts", args: ["rows.csv"], findings: [] },
  { script: "rotate-token-in-ci.ts", args: ["rotate", "token.json"], findings: [] },
  { script: "rotate-token-in-ci.ts", args: ["work", "token.json"], findings: [] },
  // A token whose secret was lost stays until it expires: the program says so.
  { script: "rotate-token-in-ci.ts", args: ["create", "token.json"], findings: ["twice"] },
])("$script $args", async ({ script, args, findings }) => {
  const report = await reportOf(script, args);
  expect(report.findings.map(({ what, message }) => (findings.length === 0 ? message : what))).toEqual(findings);
  expect(report.unreached).toEqual([]);
});
