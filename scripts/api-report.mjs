/**
 * Writes the public declarations of every entry point, one file each and without docstrings, from the built
 * declarations: to `test/release/package/api`, where a test compares them, or to the folder that is given.
 *
 * Usage: node scripts/api-report.mjs [folder]
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";

const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
const [folder = "test/release/package/api"] = process.argv.slice(2);
const entries = Object.entries(exports).flatMap(([name, target]) =>
  typeof target === "string" ? [] : [{ name, file: resolve(target.import.types) }],
);

const program = ts.createProgram(
  entries.map(({ file }) => file),
  {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
    noEmit: true,
  },
);
const checker = program.getTypeChecker();
const printer = ts.createPrinter({ removeComments: true });
const dist = resolve("dist");

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const { name, file } of entries) {
  const report = name === "." ? "index" : name.slice(2).replaceAll("/", "-");
  writeFileSync(join(folder, `${report}.txt`), describe(file));
}

/** The exports of a file by name, then what they refer to and is not exported. */
function describe(file) {
  const exported = new Map(
    checker
      .getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)))
      .map((symbol) => [symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol, symbol.name]),
  );
  const hidden = new Map();
  const pending = [...exported.keys()];
  while (pending.length > 0) {
    for (const used of usedBy(pending.pop())) {
      if (exported.has(used) || hidden.has(used)) continue;
      hidden.set(used, used.name);
      pending.push(used);
    }
  }
  const sections = [listing(exported)];
  if (hidden.size > 0) sections.push("// Not exported, but referred to:\n", listing(hidden));
  return sections.join("\n");
}

function listing(symbols) {
  return [...symbols]
    .sort(([, a], [, b]) => (a < b ? -1 : 1))
    .map(([symbol, name]) =>
      declarationsOf(symbol)
        .map((declaration) => show(declaration, name))
        .join("\n"),
    )
    .join("\n\n")
    .concat("\n");
}

/** Our own declarations of a symbol; a variable's is its whole statement. */
function declarationsOf(symbol) {
  const own = (symbol.declarations ?? []).filter((node) => node.getSourceFile().fileName.startsWith(dist));
  return own.map((node) => (ts.isVariableDeclaration(node) ? node.parent.parent : node));
}

function show(declaration, name) {
  const text = printer.printNode(ts.EmitHint.Unspecified, declaration, declaration.getSourceFile());
  const own = declaration.name?.text ?? name;
  const shown = text.replace(/^(?:export )?(?:declare )?/, "");
  return own === name ? shown : `${shown} // exported as ${name}`;
}

/** The types of our own that the declarations of a symbol refer to. */
function usedBy(symbol) {
  const used = new Set();
  const visit = (node) => {
    if (ts.isIdentifier(node)) {
      const found = checker.getSymbolAtLocation(node);
      const resolved = found && found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
      const isOwn = resolved && declarationsOf(resolved).some((declaration) => ts.isSourceFile(declaration.parent));
      if (isOwn) used.add(resolved);
    }
    ts.forEachChild(node, visit);
  };
  for (const declaration of declarationsOf(symbol)) visit(declaration);
  used.delete(symbol);
  return used;
}
