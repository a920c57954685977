/**
 * Gives the files that entry points share a name: esbuild and rollup name such a file after a hash, which says nothing in a
 * stack. A file of code has a name of `SHARED_FILES`, a file of declarations that of a module that it declares.
 */
import { globSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

/** The names by build: each file holds the source beside its name, and no earlier name's. */
export const SHARED_FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  client: {
    client: "src/client/client.ts",
    "without-client": "src/core/errors/classes.ts",
    journal: "src/bulk/journal.ts",
  },
  emulator: {
    emulator: "src/emulator/emulator.ts",
    "emulator-checks": "src/emulator/checks.ts",
  },
  command: {
    "command-doctor": "src/doctor/node/command.ts",
    "command-emulator": "src/emulator/node/command.ts",
    "command-explore": "src/explore/command.ts",
    "command-server": "src/emulator/node/start.ts",
    "command-mcp": "src/mcp/node/command.ts",
    "command-program": "src/command/program.ts",
    "command-start": "src/command/start-program.ts",
    command: "src/command/command.ts",
    "command-flags": "src/command/flags.ts",
    "command-conventions": "src/emulator/conventions.ts",
    "command-scopes": "src/service/scopes.ts",
    "command-outcome": "src/core/call/outcome.ts",
    "command-globals": "src/core/checks/globals.ts",
  },
};

if (process.argv[1] === import.meta.filename) nameSharedFiles();

function nameSharedFiles(): void {
  const files = new Map([...codeFiles(), ...declarationFiles()]);
  if (new Set(files.values()).size < files.size)
    throw new Error(`two shared files have one name: ${[...files].join(" ")}`);

  const imports = new Map([...files].map(([from, to]) => [importOf(from), importOf(to)]));
  for (const file of globSync("dist/**/*.{js,d.ts,d.cts}")) {
    const text = readFileSync(file, "utf8");
    const named = text.replaceAll(
      /(?<=["'](?:\.\/|(?:\.\.\/)+))[\w-]+\.c?js(?=["'])/g,
      (name) => imports.get(name) ?? name,
    );
    if (named !== text) writeFileSync(file, named);
  }
  for (const [from, to] of files) renameSync(`dist/${from}`, `dist/${to}`);
}

/** A declaration file is imported by the name of its code. */
function importOf(file: string): string {
  return file.replace(/\.d\.(c?)ts$/, ".$1js");
}

/** The shared files of code, each with its name. */
function codeFiles(): [from: string, to: string][] {
  return Object.entries(SHARED_FILES).flatMap(([build, names]) => {
    const unnamed = new Map(globSync(`dist/${build}-*.js`).map((file) => [file, sourcesIn(file)]));
    const named = Object.entries(names).map(([name, source]) => {
      const [file] = [...unnamed].find(([, sources]) => sources.includes(source)) ?? [];
      if (file === undefined)
        throw new Error(`build/shared-files.ts: no shared file is left for ${name}, with ${source}`);
      unnamed.delete(file);
      return [basename(file), `${name}.js`] as [string, string];
    });
    for (const sources of unnamed.values())
      throw new Error(`build/shared-files.ts has no name for the shared file of ${build} with ${sources.join(", ")}`);
    return named;
  });
}

/** The sources that a file was bundled from: esbuild says them in comments. */
function sourcesIn(file: string): string[] {
  return readFileSync(file, "utf8").match(/(?<=^\/\/ )src\/.+$/gm) ?? [];
}

/** The shared files of declarations, each with its name: rollup has named it after a declaring module. */
function declarationFiles(): [from: string, to: string][] {
  return globSync("dist/*-????????.d.{ts,cts}").map((path) => {
    const file = basename(path);
    return [file, file.replace(/-[\w-]{8}(?=\.d\.c?ts$)/, "")];
  });
}
