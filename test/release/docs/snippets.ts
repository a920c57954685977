import { existsSync, globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Fault } from "../../../src/testing/index.ts";

export const root: string = resolve(import.meta.dirname, "../../..");

/** The documents whose snippets are compiled and run. */
export const documents: readonly string[] = [
  "README.md",
  "SECURITY.md",
  "llms.txt",
  ...globSync("docs/{,reference/,maintainers/}*.md", { cwd: root }).map((path) => path.replaceAll("\\", "/")),
];

/** What a start of a snippet does. */
export interface Expected {
  /** Must be among what it prints. */
  readonly prints?: string | readonly string[];
  /** It must end with an error of this name. */
  readonly rejects?: string;
  /** The exit code that it sets itself. */
  readonly exits?: number;
}

/**
 * What stands, as JSON, in a comment above a snippet that needs more than a service, or shows more than that it runs:
 * `<!-- snippet: {"prints": "done"} -->`. Readers do not see it.
 */
export interface Conditions extends Expected {
  /** What goes wrong at the service. */
  readonly faults?: readonly Fault[];
  /** The service's rate limit. */
  readonly rateLimit?: { readonly limit: number; readonly windowMs: number };
  /** What it does when it is started again, where it keeps a file. By itself: it ends well. */
  readonly again?: Expected;
  /** What is wrong at its end when each of its requests fails once, by the names of `explore`. */
  readonly findings?: readonly string[];
  /** The file that it is a part of, word for word: it is compiled and run there. */
  readonly of?: string;
  /** Why it is compiled and not run. */
  readonly notRun?: string;
  /** Runtimes beside Node on which it is not run, each with the reason. */
  readonly notOn?: Readonly<Record<string, string>>;
  /** Code that is appended: it calls what the snippet exports, as the reader's framework does. */
  readonly then?: string;
}

/** Packages of the reader's that a snippet may import, and why it is then not run. Where they are not installed, anything goes. */
const READERS_OWN: Readonly<Record<string, string>> = {
  "@opentelemetry/sdk-node": "exports to a collector",
  "@tanstack/react-query": "runs in a page",
  ioredis: "connects to a Redis",
  redis: "connects to a Redis",
};

const consumers = join(root, "tools", "consumers", "node_modules");
const isInstalled = (name: string): boolean => existsSync(join(root, "node_modules", name));

/** Those that are installed here. */
export const readersOwn: readonly string[] = Object.keys(READERS_OWN).filter(isInstalled);

/** Where the compiler finds those that are installed among the tools of consumers alone. */
export const readersOwnPaths: Readonly<Record<string, string[]>> = Object.fromEntries(
  Object.keys(READERS_OWN)
    .filter((name) => !isInstalled(name) && existsSync(join(consumers, name)))
    .flatMap((name) => [
      [name, [join(consumers, name)]],
      [`${name}/*`, [join(consumers, name, "*")]],
    ]),
);

/** Declares those that are not installed. */
export const readersOwnModules: string = Object.keys(READERS_OWN)
  .filter((name) => !isInstalled(name) && !(name in readersOwnPaths))
  .map((name) => `declare module ${JSON.stringify(name)};\ndeclare module ${JSON.stringify(`${name}/*`)};`)
  .join("\n");

/** A ```ts or ```tsx block of a document. */
export interface Snippet {
  /** Such as `README.md:40`, its first line. */
  readonly place: string;
  /** `tsx` is compiled and not run. */
  readonly language: "ts" | "tsx";
  /** As it stands there. */
  readonly code: string;
  readonly conditions: Conditions;
}

export function snippetsOf(document: string, text: string = readFileSync(join(root, document), "utf8")): Snippet[] {
  return [...text.matchAll(/(?:^<!-- snippet: (.*?) -->\n+)?^```(tsx?)\n(.*?)^```$/gms)].map((match) => {
    const [whole, conditions = "{}", language, code = ""] = match;
    const line = (text.slice(0, match.index) + whole.slice(0, whole.indexOf("```ts"))).split("\n").length + 1;
    const imports = (name: string): boolean => code.includes(`from "${name}"`) || code.includes(`from "${name}/`);
    const [, reason] = Object.entries(READERS_OWN).find(([name]) => imports(name)) ?? [];
    const said = JSON.parse(conditions) as Conditions;
    const notRun = said.of ? `is a part of ${said.of}` : language === "tsx" ? "renders a page" : reason;
    return {
      place: `${document}:${line}`,
      language: language === "tsx" ? "tsx" : "ts",
      code,
      conditions: { ...(notRun !== undefined && { notRun }), ...said },
    };
  });
}

/** The module that other snippets of `docs/frameworks.md` import as `@/lib/automation`: its snippet there. */
export const ownModule: { readonly file: string; readonly code: string } = {
  file: "lib-automation.ts",
  code: snippetsOf("docs/frameworks.md").find(({ code }) => code.startsWith("// lib/automation.ts"))?.code ?? "",
};

/** What snippets may use without saying where it is from: a client, and what the reader has anyway. */
const GIVEN = {
  client: 'const client = new (await import("project-automation")).Client();',
  store: 'const store = async (id: string, secret: string): Promise<void> => console.log("stored", id, secret !== "");',
  log: "const log = console;",
  token: 'const token: string = process.env["PROJECT_AUTOMATION_TOKEN"] ?? "";',
  readSecret:
    'const readSecret = async (_: { signal: AbortSignal; fresh: boolean }): Promise<string> => process.env["PROJECT_AUTOMATION_TOKEN"] ?? "";',
};

/** What of it a snippet uses and does not declare. */
export function assumedBy({ code, conditions }: Pick<Snippet, "code" | "conditions">): (keyof typeof GIVEN)[] {
  if (conditions.of) return [];
  const names = Object.keys(GIVEN) as (keyof typeof GIVEN)[]; // they are
  const isUsed = (name: string): boolean => new RegExp(`(?<![.\\w])${name}\\b`).test(code);
  // By a statement, or by a parameter such as `({ client }) =>`.
  const isDeclared = (name: string): boolean =>
    new RegExp(`(?:const|let|function) ${name}\\b|\\(\\{[^{}]*\\b${name}\\b[^{}]*\\}\\) =>`).test(code);
  return names.filter((name) => isUsed(name) && !isDeclared(name));
}

/** The snippet as a program. What is given stands on its first line, so that its own lines count from 2. */
export function programOf(snippet: Pick<Snippet, "code" | "conditions">): string {
  const code = snippet.code.replaceAll('"@/lib/automation"', `"./${ownModule.file}"`);
  const { then = "" } = snippet.conditions;
  const given = assumedBy({ code, conditions: snippet.conditions }).map((name) => GIVEN[name]);
  return `${given.join(" ")}\n${code}${then}\nexport {};\n`;
}
