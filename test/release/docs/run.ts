import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transform } from "esbuild";
import * as errors from "../../../src/core/errors/classes.ts";
import { startEmulator } from "../../../src/testing/node.ts";
import { startEmulatorCommand } from "../../support/emulator-command.ts";
import { PROGRAM_LIMIT_MS } from "../../support/limits.ts";
import { link } from "../../support/packed.ts";
import { NODE, type Platform } from "../../support/platforms.ts";
import { type Conditions, type Expected, ownModule, programOf, readersOwn, root, type Snippet } from "./snippets.ts";

const READERS_TOOLS = ["express", "msw", "react", "undici", "vitest", "zod"];

/** What a program of a snippet did. */
export interface Outcome {
  readonly exitCode: number;
  /** Both streams. */
  readonly printed: string;
  /** What it did when it was started again: in the same folder, against the same service. */
  readonly again?: Outcome;
  /** Issues that there are two of then. */
  readonly twice?: readonly string[];
}

/** A program that keeps something, which it finds at its next start. */
const keepsFiles = ({ code }: Snippet): boolean => /\bfileJournal\(|\bwriteFile(?:Sync)?\(/.test(code);

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
  link(folder, "@modelcontextprotocol/server", "@types", ...READERS_TOOLS, ...readersOwn);
  writeFileSync(join(folder, ownModule.file), ownModule.code);
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A service, and what the example values of the documents stand for there. */
export interface Service {
  readonly baseUrl: string;
  readonly token: string;
  readonly tokenId: string;
  /** Titles of which a project has two issues. */
  readonly twice?: () => readonly string[];
  readonly close: () => Promise<unknown>;
}

/** A service in this process, where what goes wrong can be scripted. */
export async function scriptedService({ faults = [], rateLimit }: Conditions): Promise<Service> {
  const { baseUrl, token, emulator, close } = await startEmulator({
    listIssues: true,
    ...(rateLimit && { rateLimit }),
  });
  for (const fault of faults) emulator.fault(fault);
  const twice = (): string[] =>
    emulator.projects.list().flatMap(({ id }) => {
      const titles = emulator.issues.list(id).map(({ title }) => title);
      return titles.filter((title, index) => titles.indexOf(title) !== index);
    });
  return { baseUrl, token, tokenId: emulator.tokens.list()[0]?.id ?? "", twice, close };
}

/** The service that the documents recommend. */
export const commandService = (): Promise<Service> => startEmulatorCommand(join(root, "dist/bin.js"));

/** What a program of a snippet is run with, in place of the scripted service and this Node. */
export interface Setting {
  readonly start?: () => Promise<Service>;
  readonly platform?: Platform;
}

/**
 * Runs a snippet in a process of its own, with a service of its own: the environment says where it is, as for a reader.
 * The example values of address, token, its id and its expiry, an hour from now, stand for the service's.
 */
export async function run(
  project: Project,
  snippet: Snippet,
  { start = () => scriptedService(snippet.conditions), platform = NODE }: Setting = {},
): Promise<Outcome> {
  const service = await start();
  const program = programOf(snippet)
    .replaceAll("https://automation.example.com/api/v1", service.baseUrl)
    .replaceAll("pat_key_secret", service.token)
    .replaceAll('"tok_1"', JSON.stringify(service.tokenId))
    .replaceAll("2030-01-01T00:00:00Z", new Date(Date.now() + 60 * 60_000).toISOString());
  const name = `${snippet.place.replaceAll(/\W/g, "-")}-${new URL(service.baseUrl).port}`;
  const runOnce = (): Promise<Outcome> =>
    runProgram(
      project,
      { name, code: program },
      {
        platform,
        environment: { PROJECT_AUTOMATION_BASE_URL: service.baseUrl, PROJECT_AUTOMATION_TOKEN: service.token },
      },
    );
  try {
    const first = await runOnce();
    return keepsFiles(snippet) ? { ...first, again: await runOnce(), twice: service.twice?.() ?? [] } : first;
  } finally {
    await service.close();
  }
}

/** Runs a program, or a test, in a process and a folder of its own: files that it writes are there at its next run. */
export async function runProgram(
  project: Project,
  { name, code }: { readonly name: string; readonly code: string },
  {
    environment = {},
    platform = NODE,
  }: { readonly environment?: Readonly<Record<string, string>>; readonly platform?: Platform } = {},
): Promise<Outcome> {
  const isTest = isTestProgram(code);
  const file = isTest ? `${name}.test.ts` : `${name}.js`;
  const cwd = workFolderOf(project, name);
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, file), isTest ? code : await withoutTypes(code));
  copyFileSync(join(project.folder, ownModule.file), join(cwd, ownModule.file));
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const given = isTest ? [vitest, "run", "--root", cwd, file] : [join(cwd, file)];
  const { NODE_OPTIONS: _, ...inherited } = process.env;
  const options = { cwd, env: { ...inherited, ...environment }, timeout: PROGRAM_LIMIT_MS };
  return await new Promise((resolve) => {
    const [program, ...args] = isTest ? NODE : platform;
    execFile(program, [...args, ...given], options, (error, out, err) => {
      resolve({ exitCode: error === null ? 0 : typeof error.code === "number" ? error.code : -1, printed: out + err });
    });
  });
}

/** Whether it is a test of the reader's, which vitest runs. */
export function isTestProgram(code: string): boolean {
  return code.includes('from "vitest"');
}

/** What Node does itself, for which each process would load a compiler: 40 ms. */
export async function withoutTypes(code: string): Promise<string> {
  const compilerOptions = { verbatimModuleSyntax: true };
  return (await transform(code, { loader: "ts", target: "esnext", tsconfigRaw: { compilerOptions } })).code;
}

/** Where the program of this name runs. */
export const workFolderOf = ({ folder }: Project, name: string): string => join(folder, `run-${name}`);

/** What is wrong with what it did; `undefined` if nothing is. A second start has conditions of its own, or has to end well. */
export function problemOf(outcome: Outcome, { again = {}, ...conditions }: Conditions): string | undefined {
  const problem = problemOfStart(outcome, conditions);
  if (problem !== undefined || outcome.again === undefined) return problem;
  const { twice = [] } = outcome;
  const second = twice.length > 0 ? `creates twice: ${twice.join(", ")}` : problemOfStart(outcome.again, again);
  return second && `started again, it ${second}`;
}

/** Runtimes print a value with other quotes and line breaks. */
function problemOfStart(
  { exitCode, printed }: Outcome,
  { prints = [], rejects, exits = 0 }: Expected,
): string | undefined {
  const missing = [prints].flat().filter((text) => !withoutLayout(printed).includes(withoutLayout(text)));
  if (missing.length > 0) return `does not print ${missing.join(", ")}, but: ${printed}`;
  if (rejects === undefined) return exitCode === exits ? undefined : `ends with ${exitCode}: ${printed}`;
  return exitCode !== 0 && namesOf(rejects).some((name) => printed.includes(name))
    ? undefined
    : `does not end with ${rejects}: ${printed}`;
}

function withoutLayout(text: string): string {
  return text.replaceAll("'", '"').replaceAll(/\s+|,(?=\s*[}\]])/g, "");
}

/** How an error is known in print: by its class, or by its kind on Bun, which prints the properties alone. */
function namesOf(rejects: string): string[] {
  const classes: Readonly<Record<string, unknown>> = errors;
  const found = classes[rejects];
  return [rejects, ...(isErrorClass(found) ? found.kinds.map((kind) => `kind: "${kind}"`) : [])];
}

function isErrorClass(value: unknown): value is { readonly kinds: readonly string[] } {
  return typeof value === "function" && "kinds" in value && Array.isArray(value.kinds);
}
