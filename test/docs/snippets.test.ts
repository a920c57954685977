import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** What snippets may use without saying where it is from: a client, and the functions of the reader's own. */
const PRELUDE = {
  client: 'declare const client: import("project-automation").Client;',
  store: "declare function store(id: string, plaintext: string): Promise<void>;",
  readSecret: "declare function readSecret(options: { signal: AbortSignal; fresh: boolean }): Promise<string>;",
};

function snippetsOf(document: string): { line: number; code: string }[] {
  const text = readFileSync(join(root, document), "utf8");
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => ({
    line: text.slice(0, match.index).split("\n").length + 1,
    code: match[1] ?? "",
  }));
}

function withPrelude(code: string): string {
  const needed = Object.entries(PRELUDE).filter(
    ([name]) => new RegExp(`\\b${name}\\b`).test(code) && !new RegExp(`const ${name}\\b`).test(code),
  );
  return [...needed.map(([, declaration]) => declaration), code, "export {};"].join("\n");
}

function compile(files: ReadonlyMap<string, string>): string[] {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const fileExists = host.fileExists.bind(host);
  const readFile = host.readFile.bind(host);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getCurrentDirectory = () => root;
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.getSourceFile = (path, language, ...rest) => {
    const text = files.get(path);
    return text === undefined ? getSourceFile(path, language, ...rest) : ts.createSourceFile(path, text, language);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return ts.getPreEmitDiagnostics(program).map((diagnostic) => {
    const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n");
    return `${diagnostic.file?.fileName.slice(root.length + 1) ?? ""}: ${message}`;
  });
}

describe("the README", () => {
  const snippets = snippetsOf("README.md");

  test("has snippets", () => {
    expect(snippets.length).toBeGreaterThan(8);
  });

  test("compiles, each snippet by itself, against the built package", () => {
    const files = new Map(
      snippets.map(({ line, code }) => [join(root, `readme-line-${line}.ts`), withPrelude(code)] as const),
    );
    expect(compile(files)).toEqual([]);
  }, 60_000);

  test("a snippet that is wrong would be told", () => {
    const files = new Map([[join(root, "wrong.ts"), withPrelude('client.projects.list({ limit: "10" });')]]);
    expect(compile(files)).toHaveLength(1);
  }, 60_000);
});
