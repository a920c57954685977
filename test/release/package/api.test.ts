/** The public declarations, as they were last agreed on: no type moves unseen. `api.md` holds the names of each entry point. */
import { globSync, readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";

const printer = ts.createPrinter({ removeComments: true });

/** The declarations of a built file, without docstrings. */
function declarationsIn(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
  return source.statements
    .filter((statement) => !ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement))
    .map((statement) => printer.printNode(ts.EmitHint.Unspecified, statement, source));
}

test("the public declarations are the agreed ones: npm run test:all -- test/release/package/api.test.ts -u agrees anew", async () => {
  const declarations = globSync("dist/**/*.d.ts").flatMap(declarationsIn).sort().join("\n\n");
  await expect(`${declarations}\n`).toMatchFileSnapshot("declarations.txt");
});
