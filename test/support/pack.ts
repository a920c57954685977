/** Packs what is built, and installs it from the tarball, offline: once for all files of a project of tests. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    packed: { readonly folder: string; readonly files: readonly string[]; readonly tarball: string };
  }
}

const repository = resolve(import.meta.dirname, "../..");

export function setup({ provide }: TestProject): () => void {
  if (!existsSync(join(repository, "dist/index.js"))) throw new Error("nothing is built: npm run build");
  const place = mkdtempSync(join(tmpdir(), "project-automation-"));
  const output = npm(repository, "pack", "--ignore-scripts", "--json", "--pack-destination", place);
  const [packed] = JSON.parse(output) as [{ filename: string; files: { path: string }[] }];
  const folder = join(place, "project");
  const tarball = join(place, packed.filename);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  npm(folder, "install", "--offline", "--ignore-scripts", tarball);
  provide("packed", { folder, tarball, files: packed.files.map(({ path }) => path).sort() });
  return () => rmSync(place, { recursive: true, force: true });
}

function npm(cwd: string, ...args: string[]): string {
  const quiet = ["--silent", "--no-audit", "--no-fund"];
  return execFileSync("npm", [...args, ...quiet], {
    cwd,
    encoding: "utf8",
    shell: process.platform === "win32",
    stdio: ["ignore", "pipe", "inherit"],
  });
}
