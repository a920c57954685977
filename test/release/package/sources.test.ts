/** The published declarations lead to the published sources. */
import { readFileSync, rmSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { definitionsOf } from "../../support/editor.ts";
import { type Packed, pack, readJson } from "../../support/packed.ts";

let packed: Packed;
beforeAll(() => {
  packed = pack();
});
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

const read = (file: string): string => readFileSync(join(packed.root, file), "utf8");
const declarations = (): string[] => packed.files.filter((file) => /\.d\.c?ts$/.test(file));

/** The names of a declaration file that a source has too: what is declared at its top, and the members. */
function namesIn(file: string): { name: string; line: number; character: number }[] {
  const parsed = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
  const names: { name: string; line: number; character: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    const { name } = node as ts.NamedDeclaration; // undefined for any other node
    if (name !== undefined && ts.isIdentifier(name))
      names.push({ name: name.text, ...parsed.getLineAndCharacterOfPosition(name.getStart(parsed)) });
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  return names;
}

test("each name of each declaration file leads to that name in a published source", () => {
  const astray: string[] = [];
  let found = 0;
  for (const file of declarations()) {
    const map = new SourceMap(readJson(join(packed.root, `${file}.map`)) as SourceMapPayload); // ours
    for (const { name, line, character } of namesIn(file)) {
      const entry = map.findEntry(line, character);
      const source = "originalSource" in entry ? relative(".", join(dirname(file), entry.originalSource)) : "";
      const at =
        packed.files.includes(source) && "originalLine" in entry ? read(source).split("\n")[entry.originalLine] : "";
      const original = "originalColumn" in entry ? (at ?? "").slice(entry.originalColumn) : "";
      if (new RegExp(`^${name.replace(/\$\d+$/, "").replaceAll("$", "\\$")}(?![\\w$])`).test(original)) found += 1;
      else astray.push(`${file}:${line + 1} ${name} leads to ${source}: ${original.slice(0, 40)}`);
    }
  }
  // The compiler infers the fields of a schema that are spread into it: they lead to the schema.
  expect(
    astray.filter((line) => !/^dist\/schemas\/.+ leads to src\/service\/schemas\/records\.ts: /.test(line)),
  ).toEqual([]);
  expect(astray.length).toBeLessThan(found / 50);
  expect(found).toBeGreaterThan(1_000);
});

test("an editor goes from a program to the sources", async () => {
  const program = [
    'import { Client, isAutomationError } from "project-automation";',
    'import { bulkWrite } from "project-automation/bulk";',
    'const client = new Client({ baseUrl: "https://automation.example.com/api/v1", token: "t" });',
    'void client.issues.create("web", { title: "t", type: "bug" });',
    "void [bulkWrite, isAutomationError];",
  ];
  const places = await definitionsOf({
    folder: packed.folder,
    program: program.join("\n"),
    names: ["Client", "isAutomationError", "bulkWrite", "issues", "create"],
  });
  expect(places).toEqual({
    Client: [
      "node_modules/project-automation/src/client/client.ts: export class Client",
      "node_modules/project-automation/src/client/client.ts: constructor",
    ],
    isAutomationError: [
      "node_modules/project-automation/src/core/errors/classes.ts: export function isAutomationError",
    ],
    bulkWrite: ["node_modules/project-automation/src/bulk/bulk-write.ts: export function bulkWrite"],
    issues: ["node_modules/project-automation/src/client/client.ts: readonly issues: Issues"],
    create: ["node_modules/project-automation/src/service/issues.ts: create"],
  });
});
