/**
 * Writes the pages that are made of other files: the reference of the emulator, and the tables of options and records, from
 * the code; the tables of outcomes in docs/errors.md and of retries in docs/retries.md, from tables that tests run. Tests
 * compare the pages with these texts. `npm run docs` runs it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RefusalReason, resolveConventions } from "../src/testing/index.ts";
import { FATES, SEND_AGAIN } from "../test/support/outcome-table.ts";
import { type Family, RULES, type Rule } from "../test/support/retry-table.ts";

const root = join(import.meta.dirname, "..");

interface Member {
  readonly name: string;
  /** The type, without `undefined`. */
  readonly type: string;
  /** The first paragraph of its docstring, without the point at its end. */
  readonly about: string;
  /** The `@default` in its docstring. */
  readonly standard: string | undefined;
}

type Row = readonly (string | number)[];

/** The members of an interface or object that have docstrings. */
export function membersOf(file: string, declaration: string): Member[] {
  const text = readFileSync(join(root, file), "utf8");
  const [, members] = text.split(declaration);
  if (members === undefined) throw new Error(`${file} has no "${declaration}"`);
  const [body = ""] = members.split("\n}");
  const documented = /\/\*\*((?:(?!\*\/).)*)\*\/\s*(?:readonly )?(\w+)\??: ([^\n]*)/gs;
  return [...body.matchAll(documented)].map(([, docstring = "", name = "", type = ""]) => {
    const text = docstring.replaceAll(/^ *\* ?/gm, "").trim();
    const [words = "", standard] = text.split("@default ");
    const [about = ""] = words.split("\n\n");
    const plainType = type.replace(/(?: \| undefined)?;$/, "").replace(/^\((.*)\)$/, "$1");
    return {
      name,
      type: plainType,
      about: oneLine(about).replace(/\.$/, ""),
      standard: standard === undefined ? undefined : oneLine(standard),
    };
  });
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function code(text: string): string {
  return `\`${text}\``;
}

function table(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row): string => `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
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

function optionRows(file: string, declaration: string): Row[] {
  return membersOf(file, declaration).map(({ name, about, standard }) => [code(name), shownDefault(standard), about]);
}

function shownDefault(standard: string = ""): string {
  return /^[{"]|^[\d_]+$|^false$/.test(standard) ? code(standard) : standard;
}

const CALL_OPTIONS = "src/core/call/call-options.ts";
const TYPED = ["type", "default", ""];

function optionsIn(file: string, name: string): Row[] {
  const members = membersOf(file, `export interface ${name} `);
  return members.map(({ name: option, type, about, standard }) => [
    code(option),
    code(type),
    shownDefault(standard),
    about,
  ]);
}

/** The options that some methods have beside those of every call, by the interface. */
const MORE = [
  { of: "`params` of lists", file: "src/core/list.ts", name: "ListParams" },
  { of: "`options` of lists", file: "src/core/list.ts", name: "ListOptions" },
  { of: "`toArray`", file: "src/core/paging/paginator.ts", name: "ToArrayOptions" },
  { of: "`waitFor`", file: "src/service/session-waits.ts", name: "WaitOptions" },
  { of: "`waitFor`, `watch`", file: "src/service/session-waits.ts", name: "WatchOptions" },
  { of: "`tokens.rotate`", file: "src/service/tokens.ts", name: "RotateOptions" },
];

function moreOptions({ of, file, name }: (typeof MORE)[number]): Row[] {
  return optionsIn(file, name).map((row) => [of, ...row]);
}

function fieldTable(name: string): string {
  const members = membersOf("src/service/models.ts", `export interface ${name} `);
  return table(
    [`of \`${name}\``, "type", ""],
    members.map(({ name: field, type, about }) => [code(field), code(type), about]),
  );
}

/** Each scope with the comment beside it. */
function scopeRows(): Row[] {
  const text = readFileSync(join(root, "src/service/scopes.ts"), "utf8");
  return [...text.matchAll(/^ {2}"(\w+:\w+)", \/\/ (.*)$/gm)].map(([, scope = "", allows = ""]) => [
    code(scope),
    allows,
  ]);
}

const GENERATED = "<!-- Written by scripts/generated-pages.ts: change the code that it is made from. -->";

const successes = Object.entries(successStatus)
  .map(([name, status]) => `${code(name)} ${status}`)
  .join(", ");

const emulator = `# Reference: the emulator

${GENERATED}

The guide is [Test your code](../testing.md).

## Options

${table(["of `createEmulator`", "default", ""], optionRows("src/emulator/options.ts", "export interface EmulatorOptions {"))}

${table(["also of `startEmulator`", "default", ""], optionRows("src/emulator/node/running-emulator.ts", "export interface StartOptions extends EmulatorOptions {"))}

## Flags

\`npx project-automation emulator --help\` lists all flags. \`--seed FILE\` reads options of \`createEmulator\` from JSON;
flags win over them.

Exit codes: 0 after Ctrl-C, 1 if it cannot start, 2 for a wrong command line. With a command behind \`--\`: the command's, or
128 + n after signal n, 127 if there is no such program, 126 if it cannot be run.

## Conventions

The option \`conventions\` is plain JSON. \`resolveConventions(value)\` checks it and fills in these defaults.

${table(
  ["convention", "default", ""],
  [
    ...conventionRows("export interface Conventions {", plain),
    ...conventionRows("export interface RateLimitHeaders {", rateLimitHeaders, "rateLimitHeaders."),
    ...conventionRows("export interface CorsConvention {", cors, "cors."),
  ],
)}

${code("extraFields")} adds fields to each ${Object.keys(extraFields).map(code).join(", ")}. It never replaces a documented field.

The option \`successStatus\` has the status of each operation: ${successes}.

### Refusals

${table(
  ["in `refusals`", "status", "code", "when"],
  membersOf(CONVENTIONS, "export const REFUSALS = {").map(({ name, about }) => {
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
- Malformed HTTP gets a 400, large headers a 431, slow requests a 408.
`;

const END = "\n<!-- end -->";

/** The text of a page, with each table between the lines that say from which file it is written. */
function withTables(page: string, tables: Readonly<Record<string, string>>): string {
  return Object.entries(tables).reduce(
    (text, [source, content]) => {
      const begin = `<!-- Written by scripts/generated-pages.ts from ${source}. -->\n`;
      const [before = "", rest] = text.split(begin);
      if (rest === undefined) throw new Error(`${page} has no place for the table of ${source}`);
      return `${before}${begin}\n${content}\n${rest.slice(rest.indexOf(END))}`;
    },
    readFileSync(join(root, page), "utf8"),
  );
}

const fates = table(
  ["what happened to a write", "`outcome`", "in a bulk write", "send it again?"],
  FATES.map(({ happened, outcome, state }) => [happened, code(outcome), code(state), SEND_AGAIN[outcome]]),
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
  "docs/errors.md": withTables("docs/errors.md", { "test/support/outcome-table.ts": fates }),
  "docs/retries.md": withTables("docs/retries.md", { "test/support/retry-table.ts": retries }),
  "docs/options.md": withTables("docs/options.md", {
    ClientOptions: table(["of a client", ...TYPED], optionsIn("src/client/options.ts", "ClientOptions")),
    CallOptions: table(["of a call", ...TYPED], optionsIn(CALL_OPTIONS, "CallOptions")),
    RetryOptions: table(["of `retry`", ...TYPED], optionsIn(CALL_OPTIONS, "RetryOptions")),
    "the options of methods": table(["of", "option", ...TYPED], MORE.flatMap(moreOptions)),
  }),
  "docs/records.md": withTables("docs/records.md", {
    Project: fieldTable("Project"),
    Issue: fieldTable("Issue"),
    Session: fieldTable("Session"),
    Token: fieldTable("Token"),
    CreatedToken: fieldTable("CreatedToken"),
    SCOPES: table(["scope", "allows"], scopeRows()),
  }),
  "docs/reference/emulator.md": emulator,
};

if (process.argv[1] === import.meta.filename) {
  for (const [path, text] of Object.entries(PAGES)) writeFileSync(join(root, path), text);
}
