/** docs/maintainers/owners.md names every memory in the sources, and nothing that is not there. */
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const SRC = resolve(import.meta.dirname, "../../../src");
const PAGE = readFileSync(resolve(import.meta.dirname, "../../../docs/maintainers/owners.md"), "utf8");
const KEEPERS = /^(?:Weak)?(?:Map|Set)$/;

const files = globSync("**/*.ts", { cwd: SRC }).sort();
const sourceOf = (file: string): string => readFileSync(join(SRC, file), "utf8");

/** Rows of the tables: the file, and the names in the second column. */
const rows = [...PAGE.matchAll(/^\| `([\w./-]+\.ts)` \| ([^|]*)\|/gm)].map(([, file = "", cell = ""]) => ({
  file,
  names: [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
}));

function makesKeeper(node: ts.Node | undefined): boolean {
  if (node === undefined) return false;
  if (ts.isNewExpression(node)) return ts.isIdentifier(node.expression) && KEEPERS.test(node.expression.text);
  return (
    ts.isObjectLiteralExpression(node) &&
    node.properties.some((one) => ts.isPropertyAssignment(one) && makesKeeper(one.initializer))
  );
}

/** A table of constants is no memory: nothing is put into it later. */
function isFilled(node: ts.Node | undefined): boolean {
  return node !== undefined && ts.isNewExpression(node) && (node.arguments?.length ?? 0) > 0;
}

/** The memories of a source: variables outside of functions, fields of classes, and members of objects that a call does not end. */
export function memoriesOf(text: string): string[] {
  const found: string[] = [];
  const source = ts.createSourceFile("x.ts", text, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node, path: string, isInFunction: boolean): void => {
    if (ts.isVariableDeclaration(node)) {
      const isVariable = !isInFunction && (node.parent.flags & ts.NodeFlags.Const) === 0;
      const isKeeper = !isInFunction && makesKeeper(node.initializer) && !isFilled(node.initializer);
      if (isVariable || isKeeper) found.push(node.name.getText());
    }
    if (ts.isPropertyDeclaration(node) && makesKeeper(node.initializer)) found.push(node.name.getText());
    if (ts.isPropertyAssignment(node)) {
      const name = [path, node.name.getText()].filter((part) => part !== "").join(".");
      if (isInFunction && makesKeeper(node.initializer) && !ts.isObjectLiteralExpression(node.initializer))
        found.push(name);
      ts.forEachChild(node, (child) => visit(child, name, isInFunction));
      return;
    }
    const opens = ts.isFunctionLike(node);
    ts.forEachChild(node, (child) => visit(child, opens ? "" : path, isInFunction || opens));
  };
  visit(source, "", false);
  return found;
}

test("finds what outlives a function, and leaves constants and locals alone", () => {
  const text = `
    const kept = new Map<string, number>(); const table = new Set(["a"]); let latest: string | undefined;
    const names = { one: new Set<string>() };
    class Some { readonly #seen: Set<string> = new Set(); readonly list = [1]; }
    function make() { const local = new Map(); let other = 1; return { once: { told: new Set() } }; }`;
  expect(memoriesOf(text)).toEqual(["kept", "latest", "names", "#seen", "once.told"]);
});

test("every memory has an owner on the page", () => {
  const named = new Set(rows.flatMap(({ file, names }) => names.map((name) => `${file} ${name}`)));
  const found = files.flatMap((file) => memoriesOf(sourceOf(file)).map((name) => `${file} ${name}`));
  expect(found.filter((memory) => !named.has(memory))).toEqual([]);
});

test("every file that opens files has a row", () => {
  const opening = files.filter((file) => /from "node:fs(?:\/promises)?"/.test(sourceOf(file)));
  expect(opening.filter((file) => !rows.some((row) => row.file === file))).toEqual([]);
});

test("everything on the page is in the code", () => {
  expect(rows.length).toBeGreaterThan(40);
  for (const { file, names } of rows) {
    expect(files, "is a source").toContain(file);
    const last = names.map((name) => name.split(".").at(-1) ?? "").filter((name) => /^#?\w+$/.test(name));
    for (const name of last) expect(sourceOf(file), `${name} in ${file}`).toContain(name);
  }
});
