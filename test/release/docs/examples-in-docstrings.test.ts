/** Every `@example` of a public docstring compiles and runs, as a reader would paste it: with imports, against a service. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as mcp from "project-automation/mcp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as bulk from "../../../src/bulk/index.ts";
import * as bulkNode from "../../../src/bulk/node.ts";
import * as main from "../../../src/client/index.ts";
import * as opentelemetry from "../../../src/opentelemetry/index.ts";
import * as redis from "../../../src/redis/index.ts";
import * as schemas from "../../../src/service/schemas/index.ts";
import * as testing from "../../../src/testing/index.ts";
import * as msw from "../../../src/testing/msw.ts";
import * as node from "../../../src/testing/node.ts";
import { closeCompiler, compile } from "./compile.ts";
import { createProject, type Project, problemOf, run } from "./run.ts";
import { root, type Snippet } from "./snippets.ts";

/** What an example may use without importing it: the exports of each entry point, and of packages of the reader's. */
const EXPORTS: Readonly<Record<string, readonly string[]>> = {
  "project-automation": Object.keys(main),
  "project-automation/bulk": Object.keys(bulk),
  "project-automation/bulk/node": Object.keys(bulkNode),
  "project-automation/mcp": Object.keys(mcp),
  "project-automation/opentelemetry": Object.keys(opentelemetry),
  "project-automation/redis": Object.keys(redis),
  "project-automation/schemas": Object.keys(schemas),
  "project-automation/testing": Object.keys(testing),
  "project-automation/testing/msw": Object.keys(msw),
  "project-automation/testing/node": Object.keys(node),
  "@modelcontextprotocol/server": ["InMemoryTransport"],
  ioredis: ["Redis"],
  "msw/node": ["setupServer"],
};
const TYPES: readonly string[] = ["CallOptions", "TokenProvider"];

/** What the surroundings of an example make plain: a value that its reader has. */
const GIVEN: Readonly<Record<string, string>> = {
  emulator: "createEmulator()",
  id: '"ses_1"',
  items: '[{ id: "1", project: "web", issue: { title: "It broke", type: "bug" } }]',
  key: "({ id }: (typeof items)[number]) => id",
  send: "(client: Client, { project, issue }: (typeof items)[number]) => client.issues.create(project, issue)",
  project: '"web"',
  transport: "InMemoryTransport.createLinkedPair()[0]",
  text: '\'{ "data": [], "next_cursor": null }\'',
};
const GIVEN_IN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "src/service/tokens.ts": { id: '"tok_1"' }, // the client's own, which is the one that it may adopt
};

/** Why an example is compiled and not run. */
const NOT_RUN: Readonly<Record<string, string>> = {
  "src/redis/redis-rate-limiter.ts": "connects to a Redis",
  "src/explore/explore.ts": "runs a program beside it",
};

function examplesOf(file: string): Snippet[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/@example\n((?:[ ]*\*(?!\/)(?! @).*\n)+)/g)].map(([whole, comment = ""], index) => {
    const example = comment.replaceAll(/^ *\* ?/gm, "").replaceAll(/^```.*\n/gm, "");
    const line = text.slice(0, text.indexOf(whole)).split("\n").length;
    const notRun = NOT_RUN[file];
    return {
      place: `${file}:${line} (${index + 1})`,
      language: "ts",
      code: `${surroundings(file, example)}\n${example}`,
      conditions: notRun === undefined ? {} : { notRun },
    };
  });
}

function surroundings(file: string, example: string): string {
  const given = { ...GIVEN, ...GIVEN_IN[file] };
  const declarations = Object.entries(given)
    .filter(([name]) => uses(example, name) && !declares(example, name))
    .map(([name, value]) => `const ${name} = ${value};`)
    .join(" ");
  const imports = Object.entries(EXPORTS).map(([from, names]) => {
    const used = names.filter((name) => uses(`${declarations} ${example}`, name));
    return used.length === 0 ? "" : `import { ${used.join(", ")} } from "${from}";`;
  });
  const types = TYPES.filter((name) => uses(`${declarations} ${example}`, name)).map(
    (name) => `import type { ${name} } from "project-automation";`,
  );
  return [...imports, ...types, declarations].filter(Boolean).join(" ");
}

/** Whether code has a name: not as a member, a key or part of another word, but also after a spread. */
const uses = (code: string, name: string): boolean => new RegExp(`(?<![\\w"/-]|(?<!\\.)\\.)${name}\\b(?!:)`).test(code);
const declares = (code: string, name: string): boolean => new RegExp(`\\bconst (?:\\{[^}]*)?\\b${name}\\b`).test(code);

const examples = globSync("src/**/*.ts", { cwd: root })
  .map((file) => file.replaceAll("\\", "/"))
  .sort()
  .flatMap(examplesOf);

let project: Project;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => {
  closeCompiler();
  project.remove();
});

describe("the examples in docstrings", () => {
  test("are found", () => {
    expect(examples.length).toBeGreaterThan(24);
  });

  test("compile, each by itself, against the built package", () => {
    expect(compile(project, examples)).toEqual([]);
  });

  test.concurrent.each(examples.filter(({ conditions }) => conditions.notRun === undefined))(
    "run: $place",
    async (example) => {
      expect(problemOf(await run(project, example), {})).toBeUndefined();
    },
    90_000,
  );
});
