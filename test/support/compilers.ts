/** The compilers of users, each as it is installed. */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import type * as TypeScript from "typescript";
import { API, type Diagnostic } from "typescript-7/unstable/sync";

/** What is compiled, in a project that has the package installed. */
export interface Program {
  readonly folder: string;
  readonly files: readonly string[];
  /** As in a `tsconfig.json`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Whether the declarations of other packages are checked, too: those that have not been yet. */
  readonly checksOthers: boolean;
}

/** What a compiler complains of, a line each. */
export type Compile = (program: Program) => readonly string[];

export interface Compiler {
  readonly version: string;
  readonly compile: Compile;
}

/** A complaint about the types of another package, which need not suit every compiler. */
const isOfOthers = (file: string): boolean => /(?:^|\/)node_modules\/(?!project-automation\/)/.test(file);

/**
 * A compiler that runs in this process. Programs of one module resolution share the files that it has parsed, all programs
 * those of its library. A file of another package is checked with the first program that has it.
 */
export function compilerInProcess(folder: string): Compiler {
  const ts = createRequire(import.meta.url)(folder) as typeof TypeScript; // of another version, which has what is used here
  const parsed = new Map<string, TypeScript.SourceFile | undefined>();
  const checked = new Set<TypeScript.SourceFile>();
  const compile: Compile = (program) => {
    const json = { compilerOptions: program.options, files: program.files };
    const { options, fileNames, errors } = ts.parseJsonConfigFileContent(json, ts.sys, program.folder);
    const host = ts.createCompilerHost(options);
    const parse = host.getSourceFile.bind(host);
    host.getSourceFile = (file, language, ...rest) => {
      const isLibrary = dirname(file) === host.getDefaultLibLocation?.();
      const key = JSON.stringify([file, options.strict, ...(isLibrary ? [] : [language, options.moduleResolution])]);
      if (!parsed.has(key)) parsed.set(key, parse(file, language, ...rest));
      return parsed.get(key);
    };
    const compiled = ts.createProgram(fileNames, options, host);
    const files = compiled
      .getSourceFiles()
      .filter((file) => !isOfOthers(file.fileName) || (program.checksOthers && !checked.has(file)));
    for (const file of files) checked.add(file);
    const diagnostics = [
      ...errors,
      ...compiled.getOptionsDiagnostics(),
      ...compiled.getGlobalDiagnostics(),
      ...files.flatMap((file) => [...compiled.getSyntacticDiagnostics(file), ...compiled.getSemanticDiagnostics(file)]),
    ];
    const format = { ...host, getCurrentDirectory: () => program.folder };
    return ts.formatDiagnostics(ts.sortAndDeduplicateDiagnostics(diagnostics), format).split("\n").filter(Boolean);
  };
  return { version: ts.version, compile };
}

/** The native compiler, in a process of its own that is asked by its API until it is closed. */
export function nativeCompiler(): Compiler & { readonly close: () => void } {
  const { version } = createRequire(import.meta.url)("typescript-7/package.json") as Pick<Compiler, "version">;
  let server: API | undefined;
  let configs = 0;
  const compile: Compile = ({ folder, files, options, checksOthers }) => {
    server ??= new API({ cwd: folder });
    const config = join(folder, `tsconfig.${configs++}.json`);
    writeFileSync(config, JSON.stringify({ compilerOptions: options, files }));
    const changed = files.map((file) => join(folder, file));
    const snapshot = server.updateSnapshot({ openProjects: [config], fileChanges: { changed } });
    const program = snapshot.getProject(config)?.program;
    if (program === undefined) throw new Error("the compiler has no program of these files");
    const checked = program.getSourceFileNames().filter((file) => checksOthers || !isOfOthers(file));
    const diagnostics = [
      ...program.getConfigFileParsingDiagnostics(),
      ...program.getProgramDiagnostics(),
      ...checked.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
      // What it says of no file, it says after it has checked every file.
      ...(checksOthers ? program.getGlobalDiagnostics() : []),
    ];
    snapshot.dispose();
    return diagnostics.flatMap((diagnostic) => linesOf(diagnostic, folder));
  };
  const close = (): void => {
    server?.close();
    server = undefined;
  };
  return { version, compile, close };
}

/** As the command writes it. */
function linesOf({ fileName, pos, code, text, messageChain = [] }: Diagnostic, folder: string): string[] {
  const before = fileName === undefined ? [] : readFileSync(fileName, "utf8").slice(0, pos).split("\n");
  const place = `${before.length},${(before.at(-1) ?? "").length + 1}`;
  const where = fileName === undefined ? "" : `${relative(folder, fileName)}(${place}): `;
  return [`${where}error TS${code}: ${text}`, ...messageChain.flatMap((message) => indented(message))];
}

const indented = ({ text, messageChain = [] }: Diagnostic): string[] =>
  [text, ...messageChain.flatMap(indented)].map((line) => `  ${line}`);
