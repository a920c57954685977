/** The compilers of users, each as it is installed. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type * as TypeScript from "typescript";

/** What is compiled, in a project that has the package installed. */
export interface Program {
  readonly folder: string;
  readonly files: readonly string[];
  /** As in a `tsconfig.json`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Whether the declarations of other packages are checked, too. */
  readonly checksOthers: boolean;
}

/** What a compiler complains of, a line each. */
export type Compile = (program: Program) => readonly string[];

/** A complaint about the types of another package, which need not suit every compiler. */
const isOfOthers = (file: string): boolean => /(?:^|\/)node_modules\/(?!project-automation\/)/.test(file);

/** A compiler with an API, in this process. Programs of one module resolution share the files that it has parsed. */
export function compilerInProcess(folder: string): { readonly version: string; readonly compile: Compile } {
  const ts = createRequire(import.meta.url)(folder) as typeof TypeScript; // of another version, which has what is used here
  const parsed = new Map<string, TypeScript.SourceFile | undefined>();
  const compile: Compile = (program) => {
    const json = { compilerOptions: program.options, files: program.files };
    const { options, fileNames, errors } = ts.parseJsonConfigFileContent(json, ts.sys, program.folder);
    const host = ts.createCompilerHost(options);
    const parse = host.getSourceFile.bind(host);
    host.getSourceFile = (file, language, ...rest) => {
      const key = JSON.stringify([file, language, options.moduleResolution, options.strict]);
      if (!parsed.has(key)) parsed.set(key, parse(file, language, ...rest));
      return parsed.get(key);
    };
    const compiled = ts.createProgram(fileNames, options, host);
    const files = compiled.getSourceFiles().filter(({ fileName }) => program.checksOthers || !isOfOthers(fileName));
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

/** A compiler that is a command alone; it checks every file, in one thread. */
export function compilerCommand(script: string): { readonly version: string; readonly compile: Compile } {
  let configs = 0;
  const run = (folder: string, ...args: string[]): string => {
    const command = [script, "--singleThreaded", ...args];
    const env = { ...process.env, GOGC: "400" }; // it ends before it needs the memory back
    const options = { cwd: folder, encoding: "utf8", env } as const;
    const { error, status, stdout, stderr } = spawnSync(process.execPath, command, options);
    if (status === null) throw error ?? new Error("the compiler was killed");
    return stdout + stderr;
  };
  const compile: Compile = ({ folder, files, options, checksOthers }) => {
    const config = join(folder, `tsconfig.${configs++}.json`);
    writeFileSync(config, JSON.stringify({ compilerOptions: options, files }));
    const lines = run(folder, "-p", config).split("\n").filter(Boolean);
    const isOurs = (line: string): boolean => !/^\s/.test(line) && !isOfOthers(line.split("(")[0] ?? "");
    return checksOthers ? lines : lines.filter(isOurs);
  };
  return { version: run(".", "--version").replace("Version ", "").trim(), compile };
}
