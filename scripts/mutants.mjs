/**
 * Tries whether tests notice a wrong source file: changes one token of the file at a time, runs the tests, and prints each change
 * that no test notices. Run it with and without a test to see whether another one catches the same.
 *
 *     node scripts/mutants.mjs [--most 40] SOURCE TESTS…
 *
 * Each run changes the file in place, and the file is put back at the end. It may have no change that is not committed.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { parseArgs } from "node:util";
import ts from "typescript";

/** A mutant may take so many times as long as the file that is right: one that hangs is caught. */
const SLOWER = 4;
const AT_LEAST_MS = 20_000;
const MISUSED = 2;
const KILLED = 128;

/** The operator that takes the place of another. */
const OTHER = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "&&": "||",
  "||": "&&",
  "??": "&&",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
  "+=": "-=",
  "-=": "+=",
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { most: { type: "string", default: "40" } },
});
const [file, ...tests] = positionals;
const most = Number(values.most);
if (file === undefined || tests.length === 0 || !(most > 0)) {
  end("usage: node scripts/mutants.mjs [--most 40] SOURCE TESTS…");
}
if (execFileSync("git", ["status", "--porcelain", "--", file], { encoding: "utf8" }) !== "") {
  end(`${file} has changes that are not committed`);
}

const source = readFileSync(file, "utf8");
let running;
process.on("exit", () => {
  writeFileSync(file, source);
  stop();
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => process.exit(KILLED + constants.signals[signal]));
}

const startedAt = performance.now();
if (await failsWithin(Number.POSITIVE_INFINITY)) end(`the tests fail while ${file} is right`);
const limit = Math.max(AT_LEAST_MS, SLOWER * (performance.now() - startedAt));

const survivors = [];
const mutants = spread(mutantsOf(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)), most);
for (const { start, end, text } of mutants) {
  writeFileSync(file, source.slice(0, start) + text + source.slice(end));
  if (await failsWithin(limit)) continue;
  const line = source.slice(0, start).split("\n").length;
  survivors.push({ line, code: source.split("\n")[line - 1].trim(), from: source.slice(start, end), to: text });
}
console.log(`${file}: ${mutants.length} mutants, ${mutants.length - survivors.length} caught`);
for (const { line, code, from, to } of survivors) {
  console.log(`  ${line}: ${from.split("\n")[0]} → ${to || "nothing"}    in    ${code}`);
}

/** Runs the tests. Returns `true` if one fails, or if they take too long. */
async function failsWithin(ms) {
  const args = ["node_modules/vitest/vitest.mjs", "run", "--project", "src:*", "--bail", "1", ...tests];
  running = spawn(process.execPath, args, { stdio: "ignore", detached: true });
  const timer = Number.isFinite(ms) ? setTimeout(stop, ms) : undefined;
  const [code] = await once(running, "exit");
  clearTimeout(timer);
  running = undefined;
  return code !== 0;
}

/** Ends the tests, and the processes that they have started. */
function stop() {
  try {
    if (running !== undefined) process.kill(-running.pid, "SIGKILL");
  } catch {
    // they have ended just now
  }
}

/** Returns the changes of one token each: a piece of the source, and the text in its place. Types have none. */
function mutantsOf(tree) {
  const found = [];
  const change = (node, text) => found.push({ start: node.getStart(tree), end: node.getEnd(), text });
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isImportDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const other = OTHER[node.operatorToken.getText(tree)];
      if (other !== undefined) change(node.operatorToken, other);
    } else if (node.kind === ts.SyntaxKind.TrueKeyword) change(node, "false");
    else if (node.kind === ts.SyntaxKind.FalseKeyword) change(node, "true");
    else if (ts.isNumericLiteral(node)) change(node, `(${node.getText(tree)} + 1)`);
    else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      change(node, `!!${node.operand.getText(tree)}`);
    } else if (ts.isIfStatement(node)) {
      if (!isOperation(node.expression)) change(node.expression, "false");
    } else if (ts.isConditionalExpression(node)) {
      if (!isOperation(node.condition)) change(node.condition, "false");
    } else if (ts.isExpressionStatement(node) && !ts.isBinaryExpression(node.expression)) change(node, "");
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** `true` for an expression whose operator is changed itself. */
function isOperation(node) {
  return ts.isPrefixUnaryExpression(node) || (ts.isBinaryExpression(node) && node.operatorToken.getText() in OTHER);
}

/** Returns at most so many of the values, at even distances. */
function spread(all, count) {
  return all.filter((_, at) => Math.floor((at * count) / all.length) !== Math.floor(((at - 1) * count) / all.length));
}

function end(message) {
  console.error(message);
  process.exit(MISUSED);
}
