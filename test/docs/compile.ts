import { join } from "node:path";
import ts from "typescript";
import { ownModule, programOf, readersOwnModules, readersOwnPaths, root, type Snippet } from "./snippets.ts";

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler, // as frameworks have it; Next.js needs it
  lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  types: ["node"],
  jsx: ts.JsxEmit.ReactJSX,
  paths: readersOwnPaths,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
};

/** Files of packages and libraries, which every program shares. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** What the compiler says of snippets at the root of the repository, each a module of its own: `place: message`. */
export function compile(snippets: readonly Snippet[]): string[] {
  const files = new Map(
    snippets.map((snippet) => [join(root, fileName(snippet)), { place: snippet.place, code: programOf(snippet) }]),
  );
  files.set(join(root, ownModule.file), { place: ownModule.file, code: ownModule.code });
  files.set(join(root, "snippet-modules.d.ts"), { place: "modules", code: readersOwnModules });
  const host = ts.createCompilerHost(OPTIONS);
  const fileExists = host.fileExists.bind(host);
  const readFile = host.readFile.bind(host);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getCurrentDirectory = () => root;
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path)?.code ?? readFile(path);
  host.getSourceFile = (path, language, ...rest) => {
    const file = files.get(path);
    if (file !== undefined) return ts.createSourceFile(path, file.code, language);
    if (!parsed.has(path)) parsed.set(path, getSourceFile(path, language, ...rest));
    return parsed.get(path);
  };
  const program = ts.createProgram([...files.keys()], OPTIONS, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    const place = file === undefined ? "" : (files.get(file.fileName)?.place ?? file.fileName);
    return `${place}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
  });
}

function fileName({ place, language }: Snippet): string {
  return `snippet-${place.replaceAll(/\W/g, "-")}.${language}`;
}
