/**
 * Leads from the built declarations to their sources, which are published: *Go to definition* ends in `src/`. tsup bundles
 * declarations and makes no maps of them, so the names in a bundled file are paired with the same names in the sources.
 *
 * Leaves the marks of private members (`#private;`) out. With them, each class of the ESM copy is another type than the
 * same class of the CommonJS copy, although each copy takes what the other has made, and an object of a test's own could
 * not stand for a resource.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, relative } from "node:path";
import { encode } from "@jridgewell/sourcemap-codec";
import ts from "typescript";

const sources = globSync("src/**/*.ts").map((path) => parse(path, readFileSync(path, "utf8")));

for (const path of globSync("dist/**/*.d.{ts,cts}")) {
  const text = readFileSync(path, "utf8").replaceAll(/^ +#private;\n/gm, "");
  const map = mapToSources(parse(path, text));
  writeFileSync(path, map === undefined ? text : `${text}//# sourceMappingURL=${basename(path)}.map\n`);
  if (map !== undefined) writeFileSync(`${path}.map`, JSON.stringify(map));
}

/** The map of a file of declarations; `undefined` for a file of exports alone. */
function mapToSources({ file, declarations }) {
  const used = [];
  const lines = file.getLineStarts().map(() => []);
  for (const [name, members] of declarations) {
    const source = sourceOf(name, members);
    if (source === undefined) continue; // the bundler has made it up
    const index = used.includes(source) ? used.indexOf(source) : used.push(source) - 1;
    for (const [path, node] of members) {
      const original = source.declarations.get(withoutNumber(name)).get(path);
      if (original === undefined) continue; // the compiler has inferred it
      for (const [from, to] of [
        [node.getStart(file), original.getStart(source.file)],
        [(node.name ?? node).getStart(file), (original.name ?? original).getStart(source.file)],
      ]) {
        const place = file.getLineAndCharacterOfPosition(from);
        const { line, character } = source.file.getLineAndCharacterOfPosition(to);
        lines[place.line].push([place.character, index, line, character]);
      }
    }
  }
  if (used.length === 0) return undefined;
  return {
    version: 3,
    file: basename(file.fileName), // an editor ignores a map without it
    sources: used.map((source) => relative(dirname(file.fileName), source.file.fileName).replaceAll("\\", "/")),
    names: [],
    mappings: encode(lines.map((line) => line.toSorted(([a], [b]) => a - b))),
  };
}

/** The source that declares a name: of several, that which has most of its members. */
function sourceOf(name, members) {
  const common = ({ declarations }) =>
    [...members.keys()].filter((path) => declarations.get(withoutNumber(name)).has(path)).length;
  const declaring = sources.filter(({ declarations }) => declarations.has(withoutNumber(name)));
  return declaring.toSorted((a, b) => common(b) - common(a))[0];
}

/** A name as its source has it: where two sources have one name, the bundler gives one of them a number. */
function withoutNumber(name) {
  return name.replace(/\$\d+$/, "");
}

/** The declarations at the top of a file by name: each with itself and its members by their path; overloads have numbers. */
function parse(path, text) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false, ts.ScriptKind.TS);
  const declarations = new Map();
  const visit = (node, top, around) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    const name = ts.isConstructorDeclaration(node) ? "constructor" : node.name?.getText(file);
    const members = top ?? (name === undefined ? undefined : (declarations.get(name) ?? new Map()));
    if (top === undefined && members !== undefined) declarations.set(name, members);
    let path = around;
    if (name !== undefined && members !== undefined) {
      path = top === undefined ? "" : `${around}.${name}`;
      let number = 0;
      while (members.has(`${path} ${number}`)) number += 1;
      members.set(`${path} ${number}`, node);
    }
    ts.forEachChild(node, (child) => visit(child, members, path));
  };
  ts.forEachChild(file, (node) => visit(node, undefined, ""));
  return { file, declarations };
}
