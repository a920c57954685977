import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Fault } from "../../src/testing/index.ts";

export const root: string = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** The documents whose snippets are compiled and run. */
export const documents: readonly string[] = [
  "README.md",
  "SECURITY.md",
  "llms.txt",
  ...globSync("docs/*.md", { cwd: root }).map((path) => path.replaceAll("\\", "/")),
];

/**
 * What stands, as JSON, in a comment above a snippet that needs more than a service, or shows more than that it runs:
 * `<!-- snippet: {"prints": "done"} -->`. Readers do not see it.
 */
export interface Conditions {
  /** What goes wrong at the service. */
  readonly faults?: readonly Fault[];
  /** The service's rate limit. */
  readonly rateLimit?: { readonly limit: number; readonly windowMs: number };
  /** Must be among what it prints. */
  readonly prints?: string | readonly string[];
  /** It must end with an error of this name. */
  readonly rejects?: string;
  /** Why it is compiled and not run. */
  readonly notRun?: string;
}

/** Packages of the reader's that a snippet may import, and why it is then not run. Where they are not installed, anything goes. */
const READERS_OWN: Readonly<Record<string, string>> = {
  "@opentelemetry/sdk-node": "exports to a collector",
  ioredis: "connects to a Redis",
  redis: "connects to a Redis",
};

/** Declares those that are not installed. */
export const readersOwnModules: string = Object.keys(READERS_OWN)
  .filter((name) => !existsSync(join(root, "node_modules", name)))
  .map((name) => `declare module ${JSON.stringify(name)};`)
  .join("\n");

/** A ```ts block of a document. */
export interface Snippet {
  /** Such as `README.md:40`, its first line. */
  readonly place: string;
  /** As it stands there. */
  readonly code: string;
  readonly conditions: Conditions;
}

export function snippetsOf(document: string, text: string = readFileSync(join(root, document), "utf8")): Snippet[] {
  return [...text.matchAll(/(?:^<!-- snippet: (.*?) -->\n+)?^```ts\n(.*?)^```$/gms)].map((match) => {
    const [whole, conditions = "{}", code = ""] = match;
    const line = (text.slice(0, match.index) + whole.slice(0, whole.indexOf("```ts"))).split("\n").length + 1;
    const [, imported] = Object.entries(READERS_OWN).find(([name]) => code.includes(`from "${name}"`)) ?? [];
    const notRun = imported === undefined ? {} : { notRun: imported };
    return { place: `${document}:${line}`, code, conditions: { ...notRun, ...(JSON.parse(conditions) as Conditions) } };
  });
}

/** What snippets may use without saying where it is from: a client, and what the reader has anyway. */
const GIVEN = {
  client: 'const client = new (await import("project-automation")).Client();',
  store: 'const store = async (id: string, secret: string): Promise<void> => console.log("stored", id, secret !== "");',
  log: "const log = console;",
  token: 'const token: string = process.env["PROJECT_AUTOMATION_TOKEN"] ?? "";',
  readSecret:
    'const readSecret = async (_: { signal: AbortSignal; fresh: boolean }): Promise<string> => process.env["PROJECT_AUTOMATION_TOKEN"] ?? "";',
};

/** The snippet as a program. What is given stands on its first line, so that its own lines count from 2. */
export function programOf({ code }: Pick<Snippet, "code">): string {
  const given = Object.entries(GIVEN).filter(
    ([name]) =>
      new RegExp(`(?<![.\\w])${name}\\b`).test(code) && !new RegExp(`(?:const|let|function) ${name}\\b`).test(code),
  );
  return `${given.map(([, declaration]) => declaration).join(" ")}\n${code}export {};\n`;
}
