/** A snippet as a program that `project-automation explore` runs. */
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createEmulator } from "../../../src/testing/index.ts";
import type { ExplorationReport } from "../../../src/testing/node.ts";
import { PROGRAM_LIMIT_MS } from "../../support/limits.ts";
import { NODE } from "../../support/platforms.ts";
import { isTestProgram, type Project, withoutTypes, workFolderOf } from "./run.ts";
import { ownModule, programOf, root, type Snippet } from "./snippets.ts";

const WRITES =
  /\b(issues\.create|tokens\.(create|rotate|revoke)|bulkWrite|rotatingToken)\(|method: "(POST|PUT|PATCH|DELETE)"/;
const OWN_SERVICE = /\b(createEmulator|startEmulator|explore)\(/;

/** Whether a snippet writes to the service that it is given. */
export function writes({ code, conditions: { notRun, rejects, faults } }: Snippet): boolean {
  const isShown = notRun === undefined && (rejects === undefined || faults !== undefined);
  return isShown && WRITES.test(code) && !OWN_SERVICE.test(code) && !isTestProgram(code);
}

/** A snippet is a part of a program. What a kill leaves is a matter of the whole. */
const FAULTS = [
  "lost_before",
  "lost_after",
  "outage",
  "unavailable",
  "unavailable_after",
  "cut_body",
  "token_rejected",
];
const FLAGS = ["--json", "--list-issues", ...FAULTS.flatMap((fault) => ["--fault", fault])];

/** The example values stand for those of the run. The first token has the same id in each emulator. */
const VALUES: Readonly<Record<string, string>> = {
  '"https://automation.example.com/api/v1"': 'String(process.env["PROJECT_AUTOMATION_BASE_URL"])',
  '"pat_key_secret"': 'String(process.env["PROJECT_AUTOMATION_TOKEN"])',
  '"tok_1"': JSON.stringify(createEmulator().tokens.list()[0]?.id),
  '"2030-01-01T00:00:00Z"': "new Date(Date.now() + 3_600_000).toISOString()",
};

/** Explores a snippet. Returns the kinds of its findings. */
export async function findingsOf(project: Project, snippet: Snippet): Promise<string[]> {
  const out = await explore(project, snippet, { file: "snippet.js", flags: FLAGS });
  const { findings } = JSON.parse(out) as ExplorationReport; // as it is printed
  return [...new Set(findings.map(({ what }) => what))].sort();
}

/** Explores a snippet in a file of this name, and returns what is printed. */
export async function explore(
  project: Project,
  snippet: Snippet,
  { file, flags }: { readonly file: string; readonly flags: readonly string[] },
): Promise<string> {
  const folder = workFolderOf(project, `explored-${snippet.place.replaceAll(/\W/g, "-")}`);
  mkdirSync(folder, { recursive: true });
  let code = programOf(snippet);
  for (const [example, value] of Object.entries(VALUES)) code = code.replaceAll(example, value);
  writeFileSync(join(folder, file), await withoutTypes(code));
  copyFileSync(join(project.folder, ownModule.file), join(folder, ownModule.file));
  copyFileSync(join(project.folder, "package.json"), join(folder, "package.json"));
  const args = [...NODE.slice(1), join(root, "dist/bin.js"), "explore", ...flags, "--", "node", file];
  return new Promise((resolve, reject) => {
    execFile(NODE[0], args, { cwd: folder, timeout: PROGRAM_LIMIT_MS }, (_, out, err) => {
      if (out === "") reject(new Error(err));
      else resolve(out);
    });
  });
}
