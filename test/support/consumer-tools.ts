/** The tools that consumers of the package use: `tools/consumers`, installed by its `setup.mjs`. */
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { NEEDS_ALL } from "./all-tests.ts";

const here = resolve(import.meta.dirname, "../../tools/consumers");

interface Manifest {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** What is missing and how to get it; `undefined` where every tool is there at its version. */
export const missingTools: string | undefined = findMissing();

/** Whether the tests that need the tools run: where they are there, and if all tests are asked for, where they fail without. */
export const runsTools: boolean = missingTools === undefined || NEEDS_ALL;

/** A file of one of the tools. */
export function toolFile(path: string): string {
  if (missingTools !== undefined) throw new Error(missingTools);
  return join(here, "node_modules", path);
}

/** Makes tools importable in a project, as if they were installed there. */
export function linkTools(folder: string, ...names: string[]): void {
  for (const name of names) symlinkSync(toolFile(name), join(folder, "node_modules", name), "junction");
}

function findMissing(): string | undefined {
  const { devDependencies } = readManifest(here);
  const missing = Object.entries(devDependencies).flatMap(([name, wanted]) => {
    const folder = join(here, "node_modules", name);
    const version = wanted.slice(wanted.lastIndexOf("@") + 1); // of an alias, the version of its target
    const isThere = existsSync(join(folder, "package.json")) && readManifest(folder).version === version;
    return isThere ? [] : [`${name} ${version}`];
  });
  if (missing.length === 0) return undefined;
  return `missing in tools/consumers: ${missing.join(", ")}; to install: node tools/consumers/setup.mjs`;
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest; // npm wrote it
}
