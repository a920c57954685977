/**
 * Writes the pages that are made of other files: the reference of the emulator, from the code; the tables of outcomes in
 * docs/errors.md and of retries in docs/retries.md, from tables that tests run. Tests compare the pages with these texts.
 * `npm run docs` runs it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RefusalReason, resolveConventions } from "../src/testing/index.ts";
import { FATES, SEND_AGAIN } from "../test/support/outcome-table.ts";
import { type Family, RULES, type Rule } from "../test/support/retry-table.ts";

const root = join(import.meta.dirname, "..");

interface Member {
  readonly name: string;
  /** Its docstring, without the point at its end. */
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
  const documented = /\/\*\*((?:(?!\*\/).)*)\*\/\s*(?:readonly )?(\w+)\??:/gs;
  return [...body.matchAll(documented)].map(([, docstring = "", name = ""]) => {
    const words = docstring.replaceAll(/\s*\n\s*\*\s?/g, " ").trim();
    const [about = "", standard] = words.split("@default ");
    return { name, about: about.trim().replace(/\.$/, ""), standard: standard?.trim() };
  });
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
  return membersOf(file, declaration).map(({ name, about, standard }) => [
    code(name),
    standard === undefined ? "" : /^[{"]|^[\d_]+$|^false$/.test(standard) ? code(standard) : standard,
    about,
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

/** The text of a page, with this table between the lines that say from which file it is written. */
function withTable(page: string, source: string, content: string): string {
  const begin = `<!-- Written by scripts/generated-pages.ts from ${source}. -->\n`;
  const [before = "", rest = ""] = readFileSync(join(root, page), "utf8").split(begin);
  return `${before}${begin}\n${content}\n${rest.slice(rest.indexOf(END))}`;
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
  "docs/errors.md": withTable("docs/errors.md", "test/support/outcome-table.ts", fates),
  "docs/retries.md": withTable("docs/retries.md", "test/support/retry-table.ts", retries),
  "docs/reference/emulator.md": emulator,
};

if (process.argv[1] === import.meta.filename) {
  for (const [path, text] of Object.entries(PAGES)) writeFileSync(join(root, path), text);
}
