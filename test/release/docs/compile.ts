import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { nativeCompiler } from "../../support/compilers.ts";
import type { Project } from "./run.ts";
import { ownModule, programOf, readersOwnModules, readersOwnPaths, type Snippet } from "./snippets.ts";

const OPTIONS = {
  target: "es2022",
  module: "esnext",
  moduleResolution: "bundler", // as frameworks have it; Next.js needs it
  lib: ["es2022", "dom", "dom.iterable"],
  types: ["node"],
  jsx: "react-jsx",
  paths: readersOwnPaths,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  erasableSyntaxOnly: true, // so that Node runs it as it stands
  skipLibCheck: true,
};

const compiler = nativeCompiler();
export const { close: closeCompiler } = compiler;

/** What the compiler says of snippets in a project, each a module of its own: `place: message`. */
export function compile({ folder }: Project, snippets: readonly Snippet[]): string[] {
  const places = new Map(snippets.map((snippet) => [fileName(snippet), snippet.place]));
  for (const snippet of snippets) writeFileSync(join(folder, fileName(snippet)), programOf(snippet));
  writeFileSync(join(folder, "modules.d.ts"), readersOwnModules);
  const files = [...places.keys(), ownModule.file, "modules.d.ts"];
  const lines = compiler.compile({ folder, files, options: OPTIONS, checksOthers: true });
  // A complaint is a line, and more lines that are indented.
  const complaints = lines
    .join("\n")
    .split(/\n(?!\s)/)
    .filter(Boolean);
  return complaints.map((complaint) => {
    const [, file = "", message = complaint] = /^(.*?)\(\d+,\d+\): (.*)$/s.exec(complaint) ?? [];
    return `${places.get(file) ?? file}: ${message}`;
  });
}

function fileName({ place, language }: Snippet): string {
  return `snippet-${place.replaceAll(/\W/g, "-")}.${language}`;
}
