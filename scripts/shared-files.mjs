/** Gives the files that entry points share the names of `config/shared-files.ts`, or of what they declare, in place of hashes. */
import { globSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { SHARED_FILES } from "../config/shared-files.ts";

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

/** A declaration file is imported by the name of its code. */
function importOf(file) {
  return file.replace(/\.d\.(c?)ts$/, ".$1js");
}

/** The shared files of code, each with its name. */
function codeFiles() {
  return Object.entries(SHARED_FILES).flatMap(([build, names]) => {
    const unnamed = new Map(globSync(`dist/${build}-*.js`).map((file) => [file, sourcesIn(file)]));
    const named = Object.entries(names).map(([name, source]) => {
      const [file] = [...unnamed].find(([, sources]) => sources.includes(source)) ?? [];
      if (file === undefined)
        throw new Error(`config/shared-files.ts: no shared file is left for ${name}, with ${source}`);
      unnamed.delete(file);
      return [basename(file), `${name}.js`];
    });
    for (const sources of unnamed.values())
      throw new Error(`config/shared-files.ts has no name for the shared file of ${build} with ${sources.join(", ")}`);
    return named;
  });
}

/** The sources that a file was bundled from: esbuild says them in comments. */
function sourcesIn(file) {
  return readFileSync(file, "utf8").match(/(?<=^\/\/ )src\/.+$/gm) ?? [];
}

/** The shared files of declarations, each with its name: rollup has named it after a declaring module. */
function declarationFiles() {
  return globSync("dist/*-????????.d.{ts,cts}").map((path) => {
    const file = basename(path);
    return [file, file.replace(/-[\w-]{8}(?=\.d\.c?ts$)/, "")];
  });
}
