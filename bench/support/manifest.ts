import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Manifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, { readonly import: { readonly default: string } }>>;
}

export function manifestOf(file: URL | string): Manifest {
  return JSON.parse(readFileSync(file, "utf8")) as Manifest; // the fields that are read are there
}

/** Returns the module that a checkout of our package publishes as an entry point, such as `.` or `./testing/node`. */
export function moduleOf(folder: string, entryPoint: string): string {
  return join(folder, manifestOf(join(folder, "package.json")).exports[entryPoint]?.import.default ?? "");
}
