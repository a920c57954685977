/** Compilers that turn classes into functions: what the package says and throws is what it says and throws as it is. */
import { execFileSync } from "node:child_process";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingTools, runsTools, toolFile } from "../../support/consumer-tools.ts";
import { type Packed, pack } from "../../support/packed.ts";

let packed: Packed;
/** The program and the package in one file, as they are. */
let code: string;
let said: string;
beforeAll(async () => {
  packed = pack();
  cpSync(resolve(import.meta.dirname, "consumers/compiled/main.js"), join(packed.folder, "main.js"));
  const { outputFiles } = await build({
    entryPoints: [join(packed.folder, "main.js")],
    bundle: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "esnext",
    write: false,
  });
  code = outputFiles[0]?.text ?? "";
  said = run("as-it-is.mjs", code);
});
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

function run(file: string, program: string): string {
  const path = join(packed.folder, file);
  writeFileSync(path, program);
  return execFileSync(process.execPath, [path], { encoding: "utf8" });
}

/** The compilers, and what they are told. */
type Compile = (program: string) => string;

interface Babel {
  transformSync(code: string, options: object): { readonly code: string };
}
interface Swc {
  transformSync(code: string, options: object): { readonly code: string };
}
const tool = <Tool>(name: string): Tool => createRequire(toolFile("package.json"))(toolFile(name)) as Tool; // as typed above

const babel =
  (preset: object): Compile =>
  (program) =>
    tool<Babel>("@babel/core").transformSync(program, {
      presets: [[toolFile("@babel/preset-env"), preset]],
      configFile: false,
      babelrc: false,
      compact: false,
    }).code;

const swc =
  (target: string): Compile =>
  (program) =>
    tool<Swc>("@swc/core").transformSync(program, {
      jsc: { target, parser: { syntax: "ecmascript" }, externalHelpers: false },
      isModule: true,
      configFile: false,
      swcrc: false,
    }).code;

const COMPILERS: readonly (readonly [string, Compile])[] = [
  ["Babel, preset-env without targets", babel({ modules: false })],
  ["Babel, preset-env for the last 2 versions", babel({ modules: false, targets: "last 2 versions" })],
  ["SWC for ES5", swc("es5")],
  ["SWC for ES2015", swc("es2015")],
];

if (missingTools !== undefined) console.log(`Not tested with compilers: ${missingTools}.`);

test("the program meets every kind of error", () => {
  const kinds = new Set([...said.matchAll(/"kind":"(\w+)"/g)].map(([, kind]) => kind));
  expect(kinds.size).toBeGreaterThan(17);
  expect(said).not.toContain("did not fail");
  expect(said).not.toContain('"isOurs":false');
});

describe.runIf(runsTools)("compiled by", () => {
  test.each(COMPILERS)("%s", (name, compile) => {
    const compiled = compile(code);
    if (!name.endsWith("ES2015")) expect(compiled).not.toMatch(/^\s*class [A-Z]/m);
    expect(run("compiled.mjs", compiled)).toBe(said);
  });
});
