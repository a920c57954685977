import ts from "typescript";

/**
 * What parts of a file come to: an expression, by its text, is the other one; `""` leaves out a method, a loop, or what an
 * `if` is about, which go by their heads, such as `if (key === "context")`. An ellipsis ends the beginning of a text or head.
 */
export type Given = Readonly<Record<string, string>>;

/** The code as it comes to, without the private members that it then has no use for. Fails where a part is not there. */
export function leaveOut(code: string, file: string, given: Given): string {
  const unseen = new Set(Object.keys(given));
  const cuts: Cut[] = [];
  const visit = (node: ts.Node): void => {
    const key = keyOf(node, given);
    if (key === undefined) {
      ts.forEachChild(node, visit);
      return;
    }
    unseen.delete(key);
    const otherwise = ts.isIfStatement(node) ? node.elseStatement : undefined;
    cuts.push({ from: node.getStart(), to: otherwise?.getStart() ?? endOf(node), value: shown(node, given[key]) });
    if (otherwise !== undefined) visit(otherwise);
  };
  visit(parse(code));
  const [gone] = unseen;
  if (gone !== undefined) throw new Error(`${file} has no longer "${gone}": see what became of it`);
  return withoutUnusedPrivates(apply(code, cuts));
}

interface Cut {
  readonly from: number;
  readonly to: number;
  readonly value: string;
}

function apply(code: string, cuts: readonly Cut[]): string {
  return [...cuts]
    .sort((one, other) => other.from - one.from)
    .reduce((text, { from, to, value }) => text.slice(0, from) + value + text.slice(to), code);
}

function keyOf(node: ts.Node, given: Given): string | undefined {
  const name = nameOf(node)?.replaceAll(/\s+/g, " ");
  return Object.keys(given).find((key) => (key.endsWith("…") ? name?.startsWith(key.slice(0, -1)) : name === key));
}

function nameOf(node: ts.Node): string | undefined {
  if (ts.isIfStatement(node)) return `if (${node.expression.getText()})`;
  const isLoop = ts.isForOfStatement(node) || ts.isForInStatement(node);
  if (isLoop || ts.isMethodDeclaration(node) || ts.isAccessor(node)) return node.getText().split(" {")[0];
  return ts.isExpression(node) ? node.getText() : undefined;
}

function shown(node: ts.Node, value: string | undefined): string {
  if (value) return `(${value})`;
  return ts.isStatement(node) && !(ts.isIfStatement(node) && node.elseStatement) ? "{}" : "";
}

/** The comma after a method of an object goes with it. */
function endOf(node: ts.Node): number {
  const comma = ts.isObjectLiteralElement(node) && node.getSourceFile().text.startsWith(",", node.end);
  return node.end + (comma ? 1 : 0);
}

/** Bundlers drop functions that nobody uses, but no private members. */
function withoutUnusedPrivates(code: string): string {
  const privates: ts.ClassElement[] = [];
  const used = new Set<string>();
  const use = (node: ts.Node): void => {
    if (ts.isPrivateIdentifier(node)) used.add(node.text);
    if (privateNameOf(node) === undefined) ts.forEachChild(node, use);
    else privates.push(node as ts.ClassElement); // nothing else has such a name
  };
  use(parse(code));
  const isUsed = (member: ts.ClassElement): boolean => used.has(privateNameOf(member) ?? "");
  for (let before = -1; before < used.size; ) {
    before = used.size;
    for (const member of privates.filter(isUsed)) ts.forEachChild(member, use);
  }
  const unused = privates.filter((member) => !isUsed(member));
  return apply(
    code,
    unused.map((member) => ({ from: member.getStart(), to: member.end, value: "" })),
  );
}

function privateNameOf(node: ts.Node): string | undefined {
  return ts.isClassElement(node) && node.name && ts.isPrivateIdentifier(node.name) ? node.name.text : undefined;
}

function parse(code: string): ts.SourceFile {
  return ts.createSourceFile("code.js", code, ts.ScriptTarget.Latest, true);
}
