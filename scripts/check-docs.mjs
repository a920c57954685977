/**
 * Checks the documents against the repository and the code: every relative link and anchor, every path in backticks, every
 * import of this package, every npm script, every error class exists; tables of errors, events, outcomes and entry points
 * agree with the code; every page can be read (the limits are in scripts/prose.mjs); every docstring and comment of the
 * sources names its thing first.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { deadLinks, deadPaths, deadRepositoryLinks, namesOf, proseOf } from "./document-links.mjs";
import { readabilityOf, vagueCommentsOf } from "./prose.mjs";

const exclude = (path) => /(^|\/)(node_modules|dist|site|\.git|docs\/api)$/.test(path);
const files = globSync("**/*", { exclude }).map((path) => path.replaceAll("\\", "/"));
/** Folders that are generated and not kept. */
const made = readFileSync(".gitignore", "utf8").match(/^.*\/$/gm) ?? [];
const { name, exports, scripts } = JSON.parse(readFileSync("package.json", "utf8"));

/** The names that each entry point exports, types included: `api.md` is made of the sources. */
const exported = new Map(
  [...readFileSync("api.md", "utf8").matchAll(/^## `(.+)`\n\n(.*)$/gm)].map(([, entryPoint, names]) => [
    entryPoint,
    new Set(literals(names, /\[`(\w+)`\]/g)),
  ]),
);
const errorClasses = new Map(
  ["classes", "journal-error", "bulk-error", "send-error"].flatMap((file) =>
    [
      ...readFileSync(`src/core/errors/${file}.ts`, "utf8").matchAll(
        /^export class (\w+) [^}]*?\bkinds: [^=]*= \[\s*"(\w+)"/gm,
      ),
    ].map(([, className, kind]) => [kind, className]),
  ),
);
const eventTypes = literals(readFileSync("src/core/events.ts", "utf8"), /readonly type: "(\w+)"/g);
const outcomes = literals(between("src/core/errors/automation-error.ts", "export type Outcome", ";"), /"(\w+)"/g);
const ERRORS = new Set([
  ...[...exported.values()].flatMap((names) => [...names]),
  "TypeError",
  "SyntaxError",
  "RangeError",
  "AggregateError",
]);

const documents = files.filter((file) => file.endsWith(".md") || file === "llms.txt");
const problems = [
  ...deadLinks(".", documents),
  ...deadRepositoryLinks(".", documents),
  ...deadPaths(".", documents, { ...namesOf([...files, ...globSync(".*")]), made }),
];
for (const document of documents) {
  const text = readFileSync(document, "utf8");
  const expect = (found, what) => found || problems.push(`${document}: ${what}`);

  for (const [, code] of proseOf(text).matchAll(/`([^`\n]+)`/g)) {
    if (/^[A-Z]\w*Error$/.test(code)) expect(ERRORS.has(code), `\`${code}\`, which is not exported`);
  }
  for (const [, script] of text.matchAll(/npm run (?:-\S+ |--\S+ )*([\w:-]+)/g)) {
    expect(script in scripts, `npm run ${script}`);
  }
  for (const [, script] of text.matchAll(/npm (test|start)\b/g)) expect(script in scripts, `npm ${script}`);
  for (const [, entryPoint = ""] of text.matchAll(new RegExp(`["'\`]${name}((?:/[\\w.-]+)+)["'\`]`, "g"))) {
    expect(`.${entryPoint}` in exports, `${name}${entryPoint}`);
  }
  for (const table of tablesOf(text)) compareWithCode(table, expect);
}

for (const [document, heading] of [
  ["docs/README.md", "import"],
  ["docs/errors.md", "class"],
  ["docs/observability.md", "event `type`"],
]) {
  const tables = existsSync(document) ? tablesOf(readFileSync(document, "utf8")) : [];
  if (!tables.some(({ head }) => head[0] === heading)) problems.push(`${document}: no table of ${heading}`);
}
for (const kind of errorClasses.keys()) {
  if (!readFileSync("llms.txt", "utf8").includes(`\`${kind}\``)) problems.push(`llms.txt: lacks the kind \`${kind}\``);
}
const pages = documents.filter((file) =>
  /^(?:README|SECURITY|CONTRIBUTING|AGENTS)\.md$|^llms\.txt$|^docs\/(?:(?:reference|maintainers)\/)?[\w-]+\.md$/.test(
    file,
  ),
);
for (const page of pages) {
  for (const problem of readabilityOf(readFileSync(page, "utf8")).problems) problems.push(`${page}: ${problem}`);
}
for (const file of files.filter((one) => /^src\/.*\.ts$/.test(one))) {
  for (const start of vagueCommentsOf(readFileSync(file, "utf8"))) {
    problems.push(`${file}: a comment begins with "${start}": name the thing first`);
  }
}
if (problems.length > 0) {
  console.error(`Documents differ from the code, or are hard to read:\n${problems.join("\n")}`);
  process.exit(1);
}
console.log(
  "docs: every link, path, script and name they mention exists, their tables say what the code says, their sentences are short",
);

/** The tables of a document: the cells of its head and of its rows. */
function tablesOf(text) {
  return [...text.matchAll(/^\|.*\|\n\|[-| ]+\|\n(?:\|.*\|\n?)*/gm)].map(([table]) => {
    const [head, , ...rows] = table
      .trim()
      .split("\n")
      .map((row) =>
        row
          .split(/(?<!\\)\|/)
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    return { head, rows };
  });
}

function compareWithCode({ head, rows }, expect) {
  const codeOf = (cell) => [...(cell ?? "").matchAll(/`([^`]+)`/g)].map(([, code]) => code);
  const same = (what, told, real) => {
    const [missing, unknown] = [real.filter((one) => !told.includes(one)), told.filter((one) => !real.includes(one))];
    expect(missing.length === 0, `the table of ${what} lacks ${missing.join(", ")}`);
    expect(unknown.length === 0, `the table of ${what} has ${unknown.join(", ")}, which is not in the code`);
  };
  const firsts = rows.flatMap(([cell]) => codeOf(cell));
  const [first, second] = head;
  if (first === "class" && second === "`kind`") {
    const pairs = rows.map(([cell, kind]) => `${codeOf(kind)[0]}: ${codeOf(cell)[0]}`);
    same(
      "errors",
      pairs,
      [...errorClasses].map(([kind, className]) => `${kind}: ${className}`),
    );
  }
  if (first === "event `type`") same("events", firsts, eventTypes);
  if (first === "`outcome`") same("outcomes", firsts, outcomes);
  if (first === "import") {
    same("entry points", firsts, [...exported.keys()]);
    for (const [cell, holds] of rows) {
      const [entryPoint] = codeOf(cell);
      for (const code of codeOf(holds).filter((one) => /^\w+$/.test(one)))
        expect(exported.get(entryPoint)?.has(code) ?? true, `\`${code}\` is not exported by ${entryPoint}`);
    }
  }
}

/** The part of a source between two texts. */
function between(file, start, end) {
  const [, rest] = readFileSync(file, "utf8").split(start);
  if (rest === undefined) throw new Error(`${file} has no ${start}`);
  return rest.slice(0, rest.indexOf(end));
}

/** The first group of each match. */
function literals(text, pattern) {
  return [...text.matchAll(pattern)].map(([, literal]) => literal);
}
