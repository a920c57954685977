/**
 * Writes the pages that are made of other files: the reference of the emulator, and the tables of options and records, from
 * the code; the tables of outcomes in docs/errors.md and of retries in docs/retries.md, from tables that tests run. Tests
 * compare the pages with these texts. `npm run docs` runs it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { SCOPES } from "../src/service/scopes.ts";
import { type RefusalReason, resolveConventions } from "../src/testing/index.ts";
import { OUTCOMES, SEND_AGAIN } from "../test/support/outcome-table.ts";
import { type Family, RULES, type Rule } from "../test/support/retry-table.ts";

const root = join(import.meta.dirname, "..");

interface Member {
  readonly name: string;
  /** The type, without `undefined`. */
  readonly type: string;
  /** The first paragraph of its docstring, without the point at its end. */
  readonly about: string;
  /** The `@default` in its docstring. */
  readonly standard: string;
}

type Row = readonly (string | number)[];

/** The members of an exported interface or object. Each has a docstring. */
export function membersOf(file: string, declaration: string): Member[] {
  const { statements } = ts.createSourceFile(
    file,
    readFileSync(join(root, file), "utf8"),
    ts.ScriptTarget.Latest,
    true,
  );
  const declared = new RegExp(`^export (?:interface|const) ${declaration}\\b`);
  const found = statements.find((statement) => declared.test(statement.getText()));
  if (found === undefined) throw new Error(`${file} has no ${declaration}`);
  return propertiesIn(found).map((property) => {
    const name = property.name.getText();
    const docstring = ts.getJSDocCommentsAndTags(property).find(ts.isJSDoc);
    if (docstring === undefined) throw new Error(`${declaration}.${name} has no docstring`);
    const [about = ""] = (ts.getTextOfJSDocComment(docstring.comment) ?? "").split("\n\n");
    const tag = docstring.tags?.find(({ tagName }) => tagName.text === "default");
    const type = ts.isPropertySignature(property) ? (property.type?.getText() ?? "") : "";
    return {
      name,
      type: type.replace(/ \| undefined$/, "").replace(/^\((.*)\)$/s, "$1"),
      about: about.replace(/\.$/, ""),
      standard: ts.getTextOfJSDocComment(tag?.comment) ?? "",
    };
  });
}

function propertiesIn(node: ts.Node): (ts.PropertySignature | ts.PropertyAssignment)[] {
  const isProperty = ts.isPropertySignature(node) || ts.isPropertyAssignment(node);
  return isProperty ? [node] : node.getChildren().flatMap(propertiesIn);
}

function code(text: string): string {
  return `\`${text}\``;
}

function table(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row): string =>
    `| ${cells.map((cell) => String(cell).replaceAll(/\s+/g, " ").replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")).replaceAll(" --- ", "---"), ...rows.map(line)].join("\n");
}

const { refusals, successStatus, extraFields, rateLimitHeaders, cors, ...plain } = resolveConventions();
const CONVENTIONS = "src/emulator/conventions.ts";

function conventionRows(declaration: string, values: object, section: string = ""): Row[] {
  const defaults = new Map(Object.entries(values));
  return membersOf(CONVENTIONS, declaration)
    .filter(({ name }) => defaults.has(name))
    .map(({ name, about }) => [code(`${section}${name}`), code(JSON.stringify(defaults.get(name))), about]);
}

const CELLS = {
  type: ({ type }: Member): string => code(type),
  default: ({ standard }: Member): string => (/^[{"]|^[\d_]+$|^false$/.test(standard) ? code(standard) : standard),
};
type Column = keyof typeof CELLS;
type Interface = readonly [file: string, name: string];

const BOTH: readonly Column[] = ["type", "default"];

function rowsOf([file, name]: Interface, columns: readonly Column[] = BOTH): Row[] {
  return membersOf(file, name).map((member) => [
    code(member.name),
    ...columns.map((column) => CELLS[column](member)),
    member.about,
  ]);
}

function tableOf(head: string, of: Interface, columns: readonly Column[] = BOTH): string {
  return table([head, ...columns, ""], rowsOf(of, columns));
}

const CALL_OPTIONS = "src/core/call/call-options.ts";

/** The options that some methods have beside those of every call, by the interface. */
const MORE: readonly (readonly [methods: string, of: Interface])[] = [
  ["`params` of lists", ["src/core/list.ts", "ListParams"]],
  ["`options` of lists", ["src/core/list.ts", "ListOptions"]],
  ["`toArray`", ["src/core/paging/paginator.ts", "ToArrayOptions"]],
  ["`waitFor`", ["src/service/session-waits.ts", "WaitOptions"]],
  ["`waitFor`, `watch`", ["src/service/session-waits.ts", "WatchOptions"]],
  ["`tokens.rotate`", ["src/service/tokens.ts", "RotateOptions"]],
];
const moreOptions = MORE.flatMap(([methods, of]) => rowsOf(of).map((row) => [methods, ...row]));

const RECORDS = ["Project", "Issue", "Session", "Token", "CreatedToken"];
const records = RECORDS.map((name) => [name, tableOf(`of \`${name}\``, ["src/service/models.ts", name], ["type"])]);

/** Each scope with the comment beside it. */
function scopeRows(): Row[] {
  const text = readFileSync(join(root, "src/service/scopes.ts"), "utf8");
  return SCOPES.map((scope) => {
    const [, allows] = new RegExp(`"${scope}", // (.*)`).exec(text) ?? [];
    if (allows === undefined) throw new Error(`${scope} has no comment`);
    return [code(scope), allows];
  });
}

const GENERATED = "<!-- Written by scripts/generated-pages.ts: change the code that it is made from. -->";

const successes = Object.entries(successStatus)
  .map(([name, status]) => `${code(name)} ${status}`)
  .join(", ");

const emulator = `# Reference: the emulator

${GENERATED}

The guide is [Test your code](../testing.md).

## Options

${tableOf("of `createEmulator`", ["src/emulator/options.ts", "EmulatorOptions"], ["default"])}

${tableOf("also of `startEmulator`", ["src/emulator/node/running-emulator.ts", "StartOptions"], ["default"])}

## Flags

\`npx project-automation emulator --help\` lists all flags. \`--seed FILE\` reads options of \`createEmulator\` from JSON;
flags win over them.

Exit codes: 0 after Ctrl-C, 1 if it cannot start, 2 for a wrong command line. With a command behind \`--\`: the command's, or
128 + n after signal n, 127 if there is no such program (1 on Windows), 126 if it cannot be run.

## Conventions

The option \`conventions\` is plain JSON. \`resolveConventions(value)\` checks it and fills in these defaults.

${table(
  ["convention", "default", ""],
  [
    ...conventionRows("Conventions", plain),
    ...conventionRows("RateLimitHeaders", rateLimitHeaders, "rateLimitHeaders."),
    ...conventionRows("CorsConvention", cors, "cors."),
  ],
)}

${code("extraFields")} adds fields to each ${Object.keys(extraFields).map(code).join(", ")}. It never replaces a documented field.

The option \`successStatus\` has the status of each operation: ${successes}.

### Refusals

${table(
  ["in `refusals`", "status", "code", "when"],
  membersOf(CONVENTIONS, "REFUSALS").map(({ name, about }) => {
    const { status, code: error } = refusals[name as RefusalReason]; // a key of what is read
    return [code(name), status, code(error), about];
  }),
)}

The first reason decides, in this order: token, rate limit, token without scopes, endpoint, size of the body, scope, project, body,
fields. An error body is \`{ "error": code, "message": text }\`.

## Rules without a setting

- Rotating and revoking need any scope, and a token of the same owner. Rotating also needs every scope of the rotated token.
- A rotation keeps name, scopes, owner and the length of the lifetime.
- Lists are in the order of creation.
- A cursor belongs to its list, fits any \`limit\`, and never expires.
- A window begins with its first request. Each request with a valid token counts, except for a 429.
`;

/** The text of a page, with each table between the lines that say from which file it is written. */
function withTables(page: string, tables: Readonly<Record<string, string>>): string {
  return Object.entries(tables).reduce(
    (text, [source, content]) => {
      const begin = `<!-- Written by scripts/generated-pages.ts from ${source}. -->\n`;
      const [before = "", rest = ""] = text.split(begin);
      const end = rest.indexOf("\n<!-- end -->");
      if (end === -1) throw new Error(`${page} has no place for the table of ${source}`);
      return `${before}${begin}\n${content}\n${rest.slice(end)}`;
    },
    readFileSync(join(root, page), "utf8"),
  );
}

const outcomes = table(
  ["what happened to a write", "`outcome`", "in a bulk write", "send it again?"],
  OUTCOMES.map(({ happened, outcome, state }) => [happened, code(outcome), code(state), SEND_AGAIN[outcome]]),
);

const RESENDS = {
  backoff: "back off, resend",
  retry_after: "wait that long, at least the backoff, resend",
  pause: "wait, resend",
  none: "resend once",
};

function reactionTo({ reaction, wait, kind, outcome }: Rule, family: Family): string {
  if (reaction[family] === "succeed") return "success";
  if (reaction[family] === "fail") return kind === "abort" ? "never" : "no";
  const why = outcome === "not_sent" ? "it was never sent" : "it was rejected";
  return family === "write" ? `${RESENDS[wait]}: ${why}` : RESENDS[wait];
}

const FAMILIES: readonly Family[] = ["safe", "delete", "write"];
/** Rules that share a row have the same cells: the first of them stands for all. */
const rules: readonly Rule[] = Object.values(RULES);
const isFirst = (rule: Rule): boolean => rules.find(({ documented }) => documented === rule.documented) === rule;
const retries = table(
  ["what happened", "`GET`, `HEAD`", "`DELETE`", "`POST`, `PUT`, `PATCH`"],
  rules.filter(isFirst).map((rule) => [rule.documented, ...FAMILIES.map((family) => reactionTo(rule, family))]),
);

/** The pages, by their paths in the repository. */
export const PAGES: Readonly<Record<string, string>> = {
  "docs/errors.md": withTables("docs/errors.md", { "test/support/outcome-table.ts": outcomes }),
  "docs/retries.md": withTables("docs/retries.md", { "test/support/retry-table.ts": retries }),
  "docs/options.md": withTables("docs/options.md", {
    ClientOptions: tableOf("of a client", ["src/client/options.ts", "ClientOptions"]),
    CallOptions: tableOf("of a call", [CALL_OPTIONS, "CallOptions"]),
    RetryOptions: tableOf("of `retry`", [CALL_OPTIONS, "RetryOptions"]),
    "the options of methods": table(["of", "option", ...BOTH, ""], moreOptions),
  }),
  "docs/records.md": withTables("docs/records.md", {
    ...Object.fromEntries(records),
    SCOPES: table(["scope", "allows"], scopeRows()),
  }),
  "docs/reference/emulator.md": emulator,
};

if (process.argv[1] === import.meta.filename) {
  for (const [path, text] of Object.entries(PAGES)) writeFileSync(join(root, path), text);
}
