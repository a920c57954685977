/**
 * Writes `api.md` from the sources: each method of the client with its types, then each public name by entry point, each a
 * link to its line in `src/`. With `--check`, compares it with what is there.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import ts from "typescript";
import { ENTRY_POINTS } from "../config/entry-points.ts";

const FILE = "api.md";
const sources = new Map(ENTRY_POINTS.map(({ name, source }) => [name, resolve(source)]));
const { config } = ts.readConfigFile("tsconfig.json", ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, ".");
const program = ts.createProgram([...sources.values()], options);
const checker = program.getTypeChecker();

/** The names that an entry point exports, and where each is declared. */
function exportsOf(file: string): readonly (readonly [name: string, declaration: ts.Declaration])[] {
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} exports nothing`);
  return checker.getExportsOfModule(module).flatMap((symbol) => {
    const { declarations = [] } = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const [declaration] = declarations;
    return declaration === undefined ? [] : [[symbol.name, declaration] as const];
  });
}

function addressOf(node: ts.Node): string {
  const file = node.getSourceFile();
  const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
  return `${relative(".", file.fileName).replaceAll("\\", "/")}#L${line + 1}`;
}

const link = (name: string, declaration: ts.Node): string => `[\`${name}\`](${addressOf(declaration)})`;
const escaped = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** The members of a class that callers use. */
function methodsOf(declaration: ts.ClassDeclaration): readonly ts.ClassElement[] {
  return declaration.members.filter((member) => {
    const isHidden =
      member.name === undefined ||
      !ts.isIdentifier(member.name) ||
      ts.getJSDocTags(member).some(({ tagName }) => tagName.text === "internal");
    const isFunction =
      ts.isMethodDeclaration(member) ||
      (ts.isPropertyDeclaration(member) &&
        (member.initializer !== undefined || (member.type !== undefined && ts.isFunctionTypeNode(member.type))));
    return !isHidden && (isFunction || ts.isGetAccessor(member));
  });
}

/** What a member is called with and returns; of a getter, its type. */
function signatureOf(member: ts.ClassElement): string {
  const { type } = member as ts.PropertyDeclaration | ts.MethodDeclaration; // as `methodsOf` has found them
  const called = ts.isMethodDeclaration(member) ? member : type && ts.isFunctionTypeNode(type) ? type : undefined;
  const result = (called ?? { type }).type?.getText() ?? "unknown";
  return called
    ? `(${called.parameters.map((parameter) => parameter.getText()).join(", ")}) -> ${result}`
    : `: ${result}`;
}

/** `client.issues.create(project: ProjectRef, …) -> ApiPromise<Issue>`, and the request that its docstring names. */
function lineOf(owner: string, member: ts.ClassElement): string {
  const request = /`((?:GET|POST|DELETE) \/[^`]*)`/.exec(member.getFullText())?.[1];
  const name = member.name?.getText() ?? "";
  return `- <code>${owner}.<a href="${addressOf(member)}">${name}</a>${escaped(signatureOf(member))}</code>${request === undefined ? "" : ` \`${request}\``}`;
}

/** The exported names that the signatures of a class mention, in order. */
function typesIn(declaration: ts.ClassDeclaration, known: ReadonlyMap<string, ts.Declaration>): readonly string[] {
  const signatures = methodsOf(declaration).map(signatureOf);
  const named = new Set(signatures.join(" ").match(/[A-Z]\w+/g) ?? []);
  return [...named].flatMap((name) => {
    const found = known.get(name);
    return found === undefined ? [] : [link(name, found)];
  });
}

function page(): string {
  const known = new Map(exportsOf(sources.get(".") ?? ""));
  const classOf = (name: string): ts.ClassDeclaration => {
    const declaration = known.get(name);
    if (declaration === undefined || !ts.isClassDeclaration(declaration)) throw new Error(`${name} is no public class`);
    return declaration;
  };
  const client = classOf("Client");
  const section = (title: string, owner: string, declaration: ts.ClassDeclaration): string =>
    [
      `## ${title}`,
      `Types: ${typesIn(declaration, known).join(", ")}`,
      methodsOf(declaration)
        .map((member) => lineOf(owner, member))
        .join("\n"),
    ].join("\n\n");
  const resources = client.members.flatMap((member) => {
    const type =
      ts.isPropertyDeclaration(member) && member.initializer === undefined ? member.type?.getText() : undefined;
    const declaration = type === undefined ? undefined : known.get(type);
    return declaration !== undefined &&
      ts.isClassDeclaration(declaration) &&
      declaration.getSourceFile().fileName.includes("/service/")
      ? [section(declaration.name?.text ?? "", `client.${member.name?.getText()}`, declaration)]
      : [];
  });
  const entries = [...sources].map(([name, file]) => {
    const names = exportsOf(file).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `## \`project-automation${name.slice(1)}\`\n\n${names.map(([one, declaration]) => link(one, declaration)).join(", ")}`;
  });
  return `${[
    "# API",
    `The methods of a client and of its lists, with their types. Then each name that an entry point exports. A link leads
to the source: its docstring has an example. The members of other objects, such as the emulator, stand there too.`,
    section("Client", "client", client),
    ...resources,
    section("Paginator", "client.projects.list()", classOf("Paginator")),
    ...entries,
  ].join("\n\n")}\n`;
}

const text = page();
const found = readFileSync(FILE, { encoding: "utf8", flag: "a+" }).replaceAll("\r\n", "\n");
if (!process.argv.includes("--check")) writeFileSync(FILE, text);
else if (found !== text) {
  console.error(`${FILE} is not what the sources say; run: npm run docs`);
  process.exitCode = 1;
}
