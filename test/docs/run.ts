import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmulator } from "../../src/testing/node.ts";
import { link } from "../support/packed.ts";
import { type Conditions, ownModule, programOf, root, type Snippet } from "./snippets.ts";

/** What a program of a snippet did. */
export interface Outcome {
  readonly exitCode: number;
  /** Both streams. */
  readonly printed: string;
}

/** A project that has this package and the reader's tools installed. */
export interface Project {
  readonly folder: string;
  readonly remove: () => void;
}

/** A folder outside the repository, where Node takes TypeScript and finds the built package by its name. */
export async function createProject(): Promise<Project> {
  const folder = mkdtempSync(join(tmpdir(), "project-automation-docs-"));
  await mkdir(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "project-automation"), "junction");
  link(folder, "hono", "msw", "react-router", "undici", "vitest", "zod");
  writeFileSync(join(folder, ownModule.file), ownModule.code);
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * Runs a snippet in a process of its own, with a service of its own: the environment says where it is, as for a reader.
 * The example values of address, token, its id and its expiry, an hour from now, stand for the service's.
 */
export async function run(project: Project, snippet: Snippet): Promise<Outcome> {
  const { faults = [], rateLimit } = snippet.conditions;
  const service = await startEmulator({ ...SEED, ...(rateLimit && { rateLimit }) });
  for (const fault of faults) service.emulator.fault(fault);
  const [{ id = "" } = {}] = service.emulator.tokens.list();
  const program = programOf(snippet)
    .replaceAll("https://automation.example.com/api/v1", service.baseUrl)
    .replaceAll("pat_key_secret", service.token)
    .replaceAll('"tok_1"', JSON.stringify(id))
    // Snippets run side by side in one folder.
    .replaceAll('"import.journal"', JSON.stringify(`${snippet.place.replaceAll(/\W/g, "-")}.journal`))
    .replaceAll("2030-01-01T00:00:00Z", new Date(Date.now() + 60 * 60_000).toISOString());
  const isTest = program.includes('from "vitest"');
  const file = `${snippet.place.replaceAll(/\W/g, "-")}${isTest ? ".test" : ""}.ts`;
  writeFileSync(join(project.folder, file), program);
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  try {
    return await node(
      project,
      isTest ? [vitest, "run", "--root", project.folder, file] : [join(project.folder, file)],
      {
        PROJECT_AUTOMATION_BASE_URL: service.baseUrl,
        PROJECT_AUTOMATION_TOKEN: service.token,
      },
    );
  } finally {
    await service.close();
  }
}

/** What is wrong with what it did; `undefined` if nothing is. */
export function flawOf({ exitCode, printed }: Outcome, { prints = [], rejects }: Conditions): string | undefined {
  const missing = [prints].flat().filter((text) => !printed.includes(text));
  if (missing.length > 0) return `does not print ${missing.join(", ")}, but: ${printed}`;
  if (rejects === undefined) return exitCode === 0 ? undefined : `ends with ${exitCode}: ${printed}`;
  return exitCode !== 0 && printed.includes(rejects) ? undefined : `does not end with ${rejects}: ${printed}`;
}

/** The projects and the session that the documents speak of. */
const SEED = {
  listIssues: true,
  projects: [{ name: "web", sessions: [{ id: "ses_1", state: "done" }] }, { name: "project-1" }, { name: "a/b" }],
};

function node({ folder }: Project, given: readonly string[], environment: Record<string, string>): Promise<Outcome> {
  const { NODE_OPTIONS: _, ...inherited } = process.env;
  const cwd = mkdtempSync(join(folder, "run-")); // files that it writes are its own
  const options = { cwd, env: { ...inherited, ...environment }, timeout: 60_000 };
  return new Promise((resolve) => {
    execFile(process.execPath, ["--disable-warning=ExperimentalWarning", ...given], options, (error, out, err) => {
      resolve({ exitCode: error === null ? 0 : typeof error.code === "number" ? error.code : -1, printed: out + err });
    });
  });
}
