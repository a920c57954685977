import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NEEDS_ALL } from "../../support/all-tests.ts";
import { OTHER_PLATFORMS } from "../../support/platforms.ts";
import { closeCompiler, compile } from "./compile.ts";
import { commandService, createProject, isTestProgram, type Project, problemOf, run } from "./run.ts";
import { assumedBy, documents, root, type Snippet, snippetsOf } from "./snippets.ts";

const snippets: readonly Snippet[] = documents.flatMap((document) => snippetsOf(document));
const ofReadme = snippets.filter(({ place, conditions }) => place.startsWith("README.md") && !conditions.notRun);

/** Whether a snippet shows what goes wrong, for which its service is scripted. */
const isScripted = ({ conditions: { faults, rateLimit } }: Snippet): boolean => (faults ?? rateLimit) !== undefined;
/** The rest of the README runs against the service that it recommends, below. */
const scripted = snippets.filter((snippet) => isScripted(snippet) || !ofReadme.includes(snippet));

let project: Project;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => {
  closeCompiler();
  project.remove();
});

const written = (markdown: string): Snippet => {
  const [snippet] = snippetsOf("written.md", markdown);
  if (snippet === undefined) throw new Error("no snippet in it");
  return snippet;
};

describe("the documents", () => {
  test("have snippets", () => {
    expect(snippets.filter(({ place }) => place.startsWith("README.md")).length).toBeGreaterThan(5);
    expect(new Set(snippets.map(({ place }) => place.split(":")[0])).size).toBeGreaterThan(2);
  });

  test("compile, each snippet by itself, against the built package", () => {
    expect(
      compile(
        project,
        snippets.filter(({ conditions }) => conditions.of === undefined),
      ),
    ).toEqual([]);
  });

  test("show a part of a file word for word", () => {
    const parts = snippets.filter(({ conditions }) => conditions.of !== undefined);
    expect(parts).not.toEqual([]);
    const isThere = ({ code, conditions: { of = "" } }: Snippet) => readFileSync(join(root, of), "utf8").includes(code);
    expect(parts.filter((part) => !isThere(part)).map(({ place }) => place)).toEqual([]);
  });

  test.each(documents)("%s says what its snippets assume", (document) => {
    const text = readFileSync(join(root, document), "utf8");
    const said =
      /[^\n]*snippets[^.]*?\bassume.*?(?=\n\n|\n- )/is.exec(text.replaceAll(/^```.*?^```/gms, ""))?.[0] ?? "";
    // A token is named by the comment or the text beside it.
    const assumed = new Set(snippetsOf(document).flatMap((snippet) => assumedBy(snippet)));
    for (const name of ["client", "store", "log", "readSecret"] as const) {
      expect(said.includes(`\`${name}\``), name).toBe(assumed.has(name));
    }
  });

  test("say why where a snippet is not run", () => {
    expect(snippets.filter(({ conditions }) => conditions.notRun === "")).toEqual([]);
    expect(snippets.filter(({ conditions }) => conditions.notRun).length).toBeLessThan(snippets.length / 4);
  });

  test.concurrent.each(scripted.filter(({ conditions }) => conditions.notRun === undefined))(
    "run: $place",
    async (snippet) => {
      expect(problemOf(await run(project, snippet), snippet.conditions)).toBeUndefined();
    },
    90_000,
  );
});

describe("the README against the emulator that it recommends, as a command without flags", () => {
  test.concurrent.each(ofReadme)(
    "runs: $place",
    async (snippet) => {
      // The command does what is right; what is scripted to go wrong is shown by the run above.
      const conditions = snippet.conditions.faults === undefined ? snippet.conditions : {};
      expect(problemOf(await run(project, snippet, { start: commandService }), conditions)).toBeUndefined();
    },
    90_000,
  );
});

/** What runs on other runtimes: the programs, and not the tests, which vitest runs on Node. */
const programs = snippets.filter(({ code, conditions }) => conditions.notRun === undefined && !isTestProgram(code));

describe.each(OTHER_PLATFORMS)("on $name", ({ name, platform }) => {
  test.concurrent.each(programs.filter(({ conditions }) => conditions.notOn?.[name] === undefined))(
    "runs: $place",
    async (snippet) => {
      expect(problemOf(await run(project, snippet, { platform }), snippet.conditions)).toBeUndefined();
    },
    90_000,
  );
});

test.runIf(NEEDS_ALL)("Bun and Deno are here", () => {
  expect(OTHER_PLATFORMS.map(({ name }) => name)).toEqual(["Bun", "Deno"]);
});

test("a snippet may import what its reader has, and is then compiled and not run", () => {
  const snippet = written(
    '```ts\nimport { NodeSDK } from "@opentelemetry/sdk-node";\nnew NodeSDK().start();\nconsole.log(token);\n```',
  );
  expect(compile(project, [snippet])).toEqual([]);
  expect(snippet.conditions.notRun).toBe("exports to a collector");
});

describe("a snippet that is wrong", () => {
  test("is reported by the compiler", () => {
    const snippet = written('```ts\nclient.projects.list({ limit: "10" });\n```');
    expect(compile(project, [snippet])).toEqual([expect.stringMatching(/^written\.md:2: /)]);
  });

  test.each([
    ['```ts\nawait client.sessions.get("gone");\n```', /ends with 1.*NotFoundError/s],
    ['<!-- snippet: {"prints": "two"} -->\n\n```ts\nconsole.log("one");\n```', /does not print two, but: one/],
    [
      '<!-- snippet: {"rejects": "RateLimitError"} -->\n```ts\nconsole.log("fine");\n```',
      /does not end with RateLimit/,
    ],
    [
      '```ts\nimport { writeFile } from "node:fs/promises";\nawait writeFile("a", "", { flag: "wx" });\n```',
      /started again, it ends with 1.*EEXIST/s,
    ],
    [
      '```ts\nimport { writeFile } from "node:fs/promises";\nawait writeFile("a", "");\nawait client.issues.create("web", { title: "One", type: "bug" });\n```',
      /started again, it creates twice: One/,
    ],
    [
      '```ts\nimport { expect, test } from "vitest";\ntest("sums", () => {\n  expect(1 + 1).toBe(3);\n});\n```',
      /ends with 1/,
    ],
  ])(
    "is reported when it is run: %#",
    async (markdown, problem) => {
      const snippet = written(markdown);
      expect(problemOf(await run(project, snippet), snippet.conditions)).toMatch(problem);
    },
    90_000,
  );
});
