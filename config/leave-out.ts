import ts from "typescript";

/**
 * Blocks of a file, and how many of the first statements of each stay. A block goes by the name of its function or getter,
 * or by the head of its statement, such as `if (key === "context")`; with an ellipsis, by the beginning of that.
 */
export type Blocks = Readonly<Record<string, number>>;

const LEFT_OUT = ' throw new Error("left out of the bundle: please report this"); ';

/** The code without these blocks: each throws in their place. Fails where one of them is not there exactly once. */
export function leaveOut(code: string, file: string, blocks: Blocks): string {
  const found = blocksOf(ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true));
  const cuts = Object.entries(blocks).map(([name, kept]) => {
    const start = name.endsWith("…") ? name.slice(0, -1) : undefined;
    const matches = found.filter((block) => (start === undefined ? block.name === name : block.name.startsWith(start)));
    const [block] = matches;
    const first = block?.statements[kept];
    if (first === undefined || matches.length > 1) {
      throw new Error(
        `${file} has no longer one block "${name}" of more than ${kept} statements: see what became of it`,
      );
    }
    return { from: first.getFullStart(), to: block?.statements.end };
  });
  return cuts
    .sort((one, other) => other.from - one.from)
    .reduce((text, { from, to }) => text.slice(0, from) + LEFT_OUT + text.slice(to), code);
}

interface NamedBlock {
  readonly name: string;
  readonly statements: ts.NodeArray<ts.Statement>;
}

function blocksOf(root: ts.Node): readonly NamedBlock[] {
  const found: NamedBlock[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node))
      found.push({ name: nameOf(node.parent).replaceAll(/\s+/g, " "), statements: node.statements });
    ts.forEachChild(node, visit);
  };
  visit(root);
  return found;
}

/** What a block belongs to. */
function nameOf(node: ts.Node): string {
  if (ts.isIfStatement(node)) return `if (${node.expression.getText()})`;
  if (ts.isForOfStatement(node)) return `for (${node.initializer.getText()} of ${node.expression.getText()})`;
  if (ts.isConstructorDeclaration(node)) return `${node.parent.name?.text}.constructor`;
  if (ts.isGetAccessor(node)) return `get ${node.name.getText()}`;
  if (ts.isMethodDeclaration(node) || ts.isFunctionDeclaration(node)) return node.name?.getText() ?? "";
  if (!ts.isArrowFunction(node)) return "";
  if (ts.isVariableDeclaration(node.parent)) return node.parent.name.getText();
  return ts.isBinaryExpression(node.parent) ? node.parent.left.getText() : "";
}
