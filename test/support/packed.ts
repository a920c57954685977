/** The package as its users get it: packed, and installed from the tarball, offline, into a folder of its own. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { inject } from "vitest";

const repository = resolve(import.meta.dirname, "../..");

export interface Packed {
  /** An empty project that has the package installed. */
  readonly folder: string;
  /** Every file in the tarball. */
  readonly files: readonly string[];
  /** Where the package is installed. */
  readonly root: string;
  readonly tarball: string;
}

/** A project of its own that has the package installed, as `pack.ts` has done it; the caller removes `folder`. */
export function pack(): Packed {
  const { folder: installed, files, tarball } = inject("packed");
  const folder = mkdtempSync(join(tmpdir(), "project-automation-"));
  cpSync(installed, folder, { recursive: true, verbatimSymlinks: true });
  return { folder, files, tarball, root: join(folder, "node_modules/project-automation") };
}

/** Makes packages of this repository importable in a project, as if they were installed there. */
export function link(folder: string, ...names: string[]): void {
  for (const name of names) {
    const place = join(folder, "node_modules", name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(repository, "node_modules", name), place, "junction");
  }
}

/** A script file of a project, and the Node and its flags to run it with. */
export interface Script {
  readonly folder: string;
  readonly name: string;
  readonly code: string;
  readonly node: string;
  readonly flags?: readonly string[];
}

/** Runs a script and returns its output. */
export function runScript(script: Script): string {
  const file = join(script.folder, script.name);
  writeFileSync(file, script.code);
  try {
    return execFileSync(script.node, [...(script.flags ?? []), file], {
      cwd: script.folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  } finally {
    rmSync(file);
  }
}

/** The Node that runs the tests, and the first one on the PATH that this repository did not bring along. */
export function installedNodes(): readonly { readonly version: string; readonly path: string }[] {
  const own = { version: process.version, path: process.execPath };
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const path = folders.map((folder) => join(folder, "node")).find((file) => existsSync(file));
  if (path === undefined) return [own];
  const version = execFileSync(path, ["--version"], { encoding: "utf8" }).trim();
  return version === own.version ? [own] : [own, { version, path }];
}

export function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}
