/** Programs of users: each is built with its tool beside the packed package, run, and says what it should. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, globSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { linkTools, missingTools, runsTools, toolFile } from "../../support/consumer-tools.ts";
import { installedNodes, link, type Packed, pack } from "../../support/packed.ts";

const TOLD = "project-1, project-2, project-3, not_found\n";

let packed: Packed;
beforeAll(() => {
  packed = pack();
  link(packed.folder, "zod"); // the programs use the schemas
});
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

/** A copy of a program, in a folder of the project that has the package installed. */
function checkOut(program: string): string {
  const folder = mkdtempSync(join(packed.folder, `${program}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(resolve(import.meta.dirname, "consumers", program), folder, { recursive: true });
  return folder;
}

/** Without optimized code, for which the tools run too shortly. */
function runTool(cwd: string, script: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--no-opt", toolFile(script), ...args], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, NODE_ENV: undefined, FORCE_COLOR: undefined, NO_COLOR: "1" },
  });
  expect(status, `${stdout}${stderr}`).toBe(0);
  return stdout;
}

const runProgram = (file: string): string => execFileSync(process.execPath, [file], { encoding: "utf8" });

describe.each(installedNodes())("Node $version alone", ({ path }) => {
  test.each(["main.mjs", "main.cjs"])("%s", (program) => {
    expect(execFileSync(path, [program], { cwd: checkOut("node"), encoding: "utf8" })).toBe(TOLD);
  });
});

test.each(["esm", "cjs", "iife"] as const)("esbuild to %s", async (format) => {
  const folder = checkOut("bundlers");
  const outfile = join(folder, format === "esm" ? "out.mjs" : "out.cjs");
  const { warnings } = await build({
    entryPoints: [join(folder, "main.js")],
    outfile,
    bundle: true,
    minify: true,
    format,
  });
  expect(warnings).toEqual([]);
  expect(runProgram(outfile)).toBe(TOLD);
});

/** Fails on any warning, except those about the published files of the application's own zod. */
const STRICT_ROLLUP = ["--failAfterWarnings", "--filterLogs", "!message:*node_modules/zod*"];

if (!runsTools) console.log(`Not tried with Jest, ts-jest, webpack, Vite, Rollup, pino and winston: ${missingTools}.`);

describe.runIf(runsTools)("with the tools of users", () => {
  beforeAll(() => {
    link(packed.folder, "@types");
    linkTools(packed.folder, "@jest", "@rollup", "jest", "jest-environment-jsdom", "jest-fixed-jsdom");
    linkTools(packed.folder, "pino", "ts-jest", "typescript", "winston");
  });

  test.each(["console", "pino", "winston"])("logging with %s", (logger) => {
    const main = join(checkOut("loggers"), "main.mjs");
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, logger], { encoding: "utf8" });
    expect(status, stderr).toBe(0);
    const said = `${stdout}${stderr}`;
    for (const line of [
      "projects.list: attempt 1, GET /projects",
      "projects.list: attempt 1 failed (rate_limit), retry in",
      "projects.list: rate limit pause over, resuming",
      "projects.list: page 1, 1 items so far",
      "sessions.get: 404 not_found",
    ]) {
      expect(said).toContain(line);
    }
    const written = {
      console: ["operation: 'sessions.get'", "callId: 'call_"],
      pino: ['"callId":"call_', '"level":20', '"level":30', '"operation":"sessions.get"', '"status":404'],
      winston: ['"callId":"call_', '"level":"debug"', '"level":"info"', '"operation":"sessions.get"', '"status":404'],
    };
    for (const text of written[logger as keyof typeof written]) expect(said).toContain(text); // one of the three
  });

  test.each([
    {
      tool: "webpack",
      script: "webpack-cli/bin/cli.js",
      args: ["build", "--mode=production", "--entry=./main.js", "--output-path=out", "--fail-on-warnings"],
      out: "out/main.js",
    },
    {
      tool: "Rollup",
      script: "rollup/dist/bin/rollup",
      args: ["main.js", "--plugin=node-resolve", "--format=es", "--file=out/main.mjs", ...STRICT_ROLLUP],
      out: "out/main.mjs",
    },
    { tool: "Vite", script: "vite/bin/vite.js", args: ["build", "--outDir=out"], out: "out/assets/*.js" },
  ])("$tool", ({ script, args, out }) => {
    const folder = checkOut("bundlers");
    runTool(folder, script, args);
    const [file = "nothing was built"] = globSync(join(folder, out));
    expect(runProgram(file)).toBe(TOLD);
  });

  // In one process: to load Jest and the compiler takes longer than the tests.
  test("Jest in CommonJS and in jsdom, and ts-jest with types found by exports, or by main and typesVersions", () => {
    const says = "createEmulator needs Request, Response, structuredClone: ";
    const tells = "config: a Client needs Request, Response: ";
    const inTypeScript = { target: "es2022", strict: true, types: ["node"] };
    const folders = [
      jestProject("jest", {}),
      jestProject("jest-jsdom", { testEnvironment: "jest-environment-jsdom", globals: { says, tells } }),
      jestProject("jest-jsdom", { testEnvironment: "jest-fixed-jsdom", globals: { says: "3 projects", tells: "on" } }),
      jestProject("ts-jest", { preset: "ts-jest" }, { ...inTypeScript, module: "nodenext" }),
      jestProject(
        "ts-jest",
        { preset: "ts-jest" },
        { ...inTypeScript, module: "commonjs", moduleResolution: "node10" },
      ),
    ];
    const args = ["--ci", "--json", "--runInBand", "--cacheDirectory=.jest", "--projects", ...folders];
    const report = JSON.parse(runTool(packed.folder, "jest/bin/jest.js", args)) as JestReport;
    expect(report).toMatchObject({ success: true, numPassedTests: 10, numTotalTests: 10 });
    for (const folder of folders) {
      const own = report.testResults.filter(({ name }) => name.startsWith(`${realpathSync(folder)}${sep}`));
      const statuses = own.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status));
      expect(statuses).toEqual(["passed", "passed"]);
    }
  });

  function jestProject(program: string, options: object, compilerOptions: object = {}): string {
    const folder = checkOut(program);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ jest: options }));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    return folder;
  }
});

interface JestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}
