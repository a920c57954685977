/** The documents and examples in the tarball, as their reader has them: nothing of the repository is there. */
import { execFile } from "node:child_process";
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleForBrowser } from "../../support/browser-bundle.ts";
import { startEmulatorCommand } from "../../support/emulator-command.ts";
import { link, type Packed, pack } from "../../support/packed.ts";

const repository = resolve(import.meta.dirname, "../../..");
const execute = promisify(execFile);
/** Older Nodes say that they strip types. */
const QUIET = "--disable-warning=ExperimentalWarning";
let packed: Packed;
/** The examples, copied as their page says: Node runs no TypeScript within node_modules. */
let examples: string;
beforeAll(() => {
  packed = pack();
  examples = join(packed.folder, "examples");
  cpSync(join(packed.root, "examples"), examples, { recursive: true });
  writeFileSync(join(examples, "package.json"), '{ "type": "module" }');
  writeFileSync(join(packed.folder, "package.json"), '{ "type": "commonjs" }'); // as `npm init` writes it
  link(packed.folder, "@modelcontextprotocol/client", "vitest", "zod");
  link(packed.folder, "@opentelemetry/api", "@opentelemetry/context-async-hooks", "@opentelemetry/sdk-trace");
});
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

const read = (file: string): string => readFileSync(join(packed.root, file), "utf8");

/** What a script of the repository finds wrong with the documents of the package. */
async function check(name: "deadLinks" | "deadPaths"): Promise<unknown> {
  const documents = packed.files.filter((file) => /\.(?:md|txt)$/.test(file));
  const program = `
    import { ${name}, namesOf } from ${JSON.stringify(join(repository, "scripts/document-links.mjs"))};
    import { globSync } from "node:fs";
    const [folder, documents, files] = JSON.parse(process.argv[1]);
    const { roots } = namesOf(globSync("{*,.*}"));
    console.log(JSON.stringify(${name}(folder, documents, { roots, names: namesOf(files).names })));`;
  const given = JSON.stringify([packed.root, documents, packed.files]);
  const args = ["--input-type=module", "--eval", program, given];
  const { stdout } = await execute(process.execPath, args, { cwd: repository });
  return JSON.parse(stdout);
}

describe("the documents in the tarball", () => {
  test("have links and anchors that lead somewhere in it", async () => {
    expect(await check("deadLinks")).toEqual([]);
  });

  test("mention no file that is not in it", async () => {
    expect(await check("deadPaths")).toEqual([]);
  });
});

describe("the examples in the tarball, copied", () => {
  test("are all there, without what only the repository needs", () => {
    const there = globSync("**/*.{ts,csv,html,css,json,md}", { cwd: join(repository, "examples") })
      .map((file) => file.replaceAll("\\", "/"))
      .filter(
        (file) => !file.includes("node_modules/") && !/^browser\/(?:tsconfig\.json|vite\.config\.ts)$/.test(file),
      );
    const shipped = packed.files.filter((file) => file.startsWith("examples/")).map((file) => file.slice(9));
    expect(shipped).toEqual(there.sort());
  });

  const node = (...args: string[]): Promise<string> =>
    execute(process.execPath, [QUIET, ...args], { cwd: packed.folder }).then(({ stdout }) => stdout);

  test.concurrent.each([
    ["error-handling.ts", /rate_limit: /],
    ["tools-for-agents.ts", /done/],
    ["trace.ts", /sessions\.get/],
  ])("%s runs by itself", async (file, printed) => {
    expect(await node(join(examples, file))).toMatch(printed);
  });

  test.concurrent("quickstart.ts runs with the command that its page and the program itself name", async () => {
    const command = "npx project-automation emulator --rate-limit 40 --window-ms 3000 -- node examples/quickstart.ts";
    for (const file of ["examples/README.md", "examples/quickstart.ts"]) expect(read(file)).toContain(command);
    const [, ...words] = command.split(" ");
    const printed = await node(join(packed.root, "dist/bin.js"), ...words.slice(1));
    expect(printed).toMatch(/rate limit reached.*created 60 issues.*done\n$/s);
  });

  test.concurrent("the programs for a service run against the command of the package", async () => {
    const service = await startEmulatorCommand(join(packed.root, "dist/bin.js"));
    const env = {
      ...process.env,
      PROJECT_AUTOMATION_BASE_URL: service.baseUrl,
      PROJECT_AUTOMATION_TOKEN: service.token,
    };
    const run = async (...args: string[]): Promise<string> => {
      const { stdout, stderr } = await execute(process.execPath, [QUIET, ...args], { cwd: examples, env });
      return stdout + stderr;
    };
    try {
      expect(await run("bulk-issues.ts", "issues.csv")).toMatch(/^created in this run: [1-9]/m);
      const journal = readFileSync(join(examples, "issues.csv.journal"), "utf8");
      expect(await run("bulk-issues.ts", "issues.csv")).toContain("not sent (the same command sends them): 0");
      expect(readFileSync(join(examples, "issues.csv.journal"), "utf8")).toBe(journal); // it sent nothing
      expect(await run("export-projects.ts", "projects.ndjson")).toContain("done: 3 projects");
      expect(await run("rotate-token-in-ci.ts", "create", "token.json")).toContain("stored the new token");
      expect(await run("rotate-token-in-ci.ts", "rotate", "token.json")).toContain("stored the new token");
    } finally {
      await service.close();
    }
  });

  test.concurrent("the tests of an application pass", async () => {
    const vitest = join(repository, "node_modules/vitest/vitest.mjs");
    await node(vitest, "run", "--root", join(examples, "testing-your-app"));
  });

  test.concurrent("the page is bundled with the package as it is installed", async () => {
    expect(await bundleForBrowser(join(examples, "browser/main.ts"))).toContain("project-automation/dist/");
  });
});
