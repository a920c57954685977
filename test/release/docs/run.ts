import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transform } from "esbuild";
import { startEmulator } from "../../../src/testing/node.ts";
import { startEmulatorCommand } from "../../support/emulator-command.ts";
import { PROGRAM_LIMIT_MS } from "../../support/limits.ts";
import { link } from "../../support/packed.ts";
import { type Conditions, ownModule, programOf, readersOwn, root, type Snippet } from "./snippets.ts";

const READERS_TOOLS = ["express", "fastify", "hono", "msw", "react", "react-router", "undici", "vitest", "zod"];

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
  readonly close: () => Promise<unknown>;
}

/** A service in this process, where what goes wrong can be scripted. */
export async function scriptedService({ faults = [], rateLimit }: Conditions): Promise<Service> {
  const { baseUrl, token, emulator, close } = await startEmulator({
    listIssues: true,
    ...(rateLimit && { rateLimit }),
  });
  for (const fault of faults) emulator.fault(fault);
  return { baseUrl, token, tokenId: emulator.tokens.list()[0]?.id ?? "", close };
}

/** The service that the documents recommend. */
export const commandService = (): Promise<Service> => startEmulatorCommand(join(root, "dist/bin.js"));

/**
 * Runs a snippet in a process of its own, with a service of its own: the environment says where it is, as for a reader.
 * The example values of address, token, its id and its expiry, an hour from now, stand for the service's.
 */
export async function run(
  project: Project,
  snippet: Snippet,
  start: () => Promise<Service> = () => scriptedService(snippet.conditions),
): Promise<Outcome> {
  const service = await start();
  const program = programOf(snippet)
    .replaceAll("https://automation.example.com/api/v1", service.baseUrl)
    .replaceAll("pat_key_secret", service.token)
    .replaceAll('"tok_1"', JSON.stringify(service.tokenId))
    .replaceAll("2030-01-01T00:00:00Z", new Date(Date.now() + 60 * 60_000).toISOString());
  const name = `${snippet.place.replaceAll(/\W/g, "-")}-${new URL(service.baseUrl).port}`;
  try {
    return await runProgram(
      project,
      { name, code: program },
      { PROJECT_AUTOMATION_BASE_URL: service.baseUrl, PROJECT_AUTOMATION_TOKEN: service.token },
    );
  } finally {
    await service.close();
  }
}

/** Runs a program, or a test, in a process and a folder of its own: files that it writes are there at its next run. */
export async function runProgram(
  project: Project,
  { name, code }: { readonly name: string; readonly code: string },
  environment: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const isTest = code.includes('from "vitest"');
  const file = isTest ? `${name}.test.ts` : `${name}.js`;
  writeFileSync(join(project.folder, file), isTest ? code : await withoutTypes(code));
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const given = isTest ? [vitest, "run", "--root", project.folder, file] : [join(project.folder, file)];
  const { NODE_OPTIONS: _, ...inherited } = process.env;
  const cwd = workFolderOf(project, name);
  mkdirSync(cwd, { recursive: true });
  const options = { cwd, env: { ...inherited, ...environment }, timeout: PROGRAM_LIMIT_MS };
  return await new Promise((resolve) => {
    execFile(process.execPath, ["--disable-warning=ExperimentalWarning", ...given], options, (error, out, err) => {
      resolve({ exitCode: error === null ? 0 : typeof error.code === "number" ? error.code : -1, printed: out + err });
    });
  });
}

/** What Node does itself, for which each process would load a compiler: 40 ms. */
async function withoutTypes(code: string): Promise<string> {
  const compilerOptions = { verbatimModuleSyntax: true };
  return (await transform(code, { loader: "ts", target: "esnext", tsconfigRaw: { compilerOptions } })).code;
}

/** Where the program of this name runs. */
export const workFolderOf = ({ folder }: Project, name: string): string => join(folder, `run-${name}`);

/** What is wrong with what it did; `undefined` if nothing is. */
export function flawOf({ exitCode, printed }: Outcome, { prints = [], rejects }: Conditions): string | undefined {
  const missing = [prints].flat().filter((text) => !printed.includes(text));
  if (missing.length > 0) return `does not print ${missing.join(", ")}, but: ${printed}`;
  if (rejects === undefined) return exitCode === 0 ? undefined : `ends with ${exitCode}: ${printed}`;
  return exitCode !== 0 && printed.includes(rejects) ? undefined : `does not end with ${rejects}: ${printed}`;
}
