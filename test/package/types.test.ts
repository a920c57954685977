/** The declarations, as compilers of users see them: every entry point, in ESM and CommonJS, with one library or the other. */
import { execFile } from "node:child_process";
import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENTRY_POINTS, PEERS, WITH_OWN_ZOD } from "../../config/entry-points.ts";
import { missingTools, runsTools, toolFile } from "../support/consumer-tools.ts";
import { link, type Packed, pack } from "../support/packed.ts";

const withoutSchemas = ENTRY_POINTS.filter(({ name }) => name !== WITH_OWN_ZOD);
const programs = resolve(import.meta.dirname, "consumers/types");
let packed: Packed;
beforeAll(() => {
  packed = pack();
  link(packed.folder, ...PEERS, "@types");
  for (const extension of ["ts", "mts", "cts"]) {
    for (const name of ["program", "options", "schemas"]) {
      copyFileSync(join(programs, `${name}.ts`), join(packed.folder, `${name}.${extension}`));
    }
    for (const [file, entries] of Object.entries({ all: ENTRY_POINTS, others: withoutSchemas })) {
      const imports = entries.map(({ name }, n) => `import * as entry${n} from "project-automation${name.slice(1)}";`);
      const uses = `export const entries: object[] = [${entries.map((_, n) => `entry${n}`).join()}];`;
      writeFileSync(join(packed.folder, `${file}.${extension}`), [...imports, uses].join("\n"));
    }
  }
}, 60_000);
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

const run = promisify(execFile);
let configs = 0;

/** What a compiler has to say. */
async function compile(compiler: string, files: readonly string[], options: object): Promise<string> {
  const compilerOptions = {
    target: "es2022",
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: false,
    skipDefaultLibCheck: true, // the compiler's own library, which is half of what there is to check
    ...options,
  };
  const config = join(packed.folder, `tsconfig.${configs++}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions, files }));
  return run(process.execPath, [compiler, "-p", config], { cwd: packed.folder }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  );
}

const ours = (name: string): string => resolve(import.meta.dirname, "../../node_modules", name, "bin/tsc");
const tool = (name: string) => (): string => toolFile(`${name}/bin/tsc`);
const compilers = [
  { version: "5.4", tsc: () => ours("typescript-5.4") },
  { version: "6.0", tsc: () => ours("typescript") },
  ...(runsTools
    ? [
        { version: "5.9", tsc: tool("typescript") },
        { version: "7.0", tsc: tool("typescript-7") },
      ]
    : []),
];
if (!runsTools) console.log(`Not compiled with TypeScript 5.9 and 7: ${missingTools}.`);

const browser = { lib: ["es2022", "dom", "dom.iterable", "dom.asynciterable"], types: [] };
const node = { lib: ["es2022"], types: ["node"] };
const libraries = [
  { library: "the DOM library", options: browser },
  { library: "@types/node", options: node },
];
const nodenext = { module: "nodenext", moduleResolution: "nodenext" };
const resolutions = [
  { by: "nodenext", options: nodenext, extensions: ["mts", "cts"] },
  { by: "bundler", options: { module: "esnext", moduleResolution: "bundler" }, extensions: ["ts"] },
];
const cases = libraries.flatMap(({ library, options }) =>
  resolutions.map((resolution) => ({ ...resolution, library, options: { ...options, ...resolution.options } })),
);

describe.each(compilers)("TypeScript $version", { timeout: 60_000 }, ({ version, tsc }) => {
  test("is what it says", async () => {
    const { stdout } = await run(process.execPath, [tsc(), "--version"]);
    expect(stdout).toMatch(`Version ${version}.`);
  });

  // The declarations of zod need a later compiler than 5.4.
  const users = version === "5.4" ? ["program", "options"] : ["program", "options", "schemas"];

  test.each(cases)("compiles the declarations and their users: $by, $library", async ({ options, extensions }) => {
    const files = users.flatMap((name) => extensions.map((extension) => `${name}.${extension}`));
    expect(await compile(tsc(), files, options)).toBe("");
  });

  // msw is ESM, and before 5.8 no compiler lets a CommonJS file import that.
  const reaches = (extension: string): boolean => extension !== "cts" || version !== "5.4";

  test.each(resolutions)("compiles every entry point: $by", async ({ options, extensions }) => {
    const files = extensions.filter(reaches).map((extension) => `${version === "5.4" ? "others" : "all"}.${extension}`);
    const output = await compile(tsc(), files, { ...browser, types: ["node"], ...options });
    expect(output.split("\n").filter(isOurs)).toEqual([]);
  });
});

/** Whether a line is a complaint, and not one of the types of another package, which need not suit every compiler. */
function isOurs(line: string): boolean {
  const isContinued = /^\s|^$/.test(line);
  return !isContinued && !/^\S*node_modules\/(?!project-automation\/)/.test(line);
}

test("without exactOptionalPropertyTypes and strict, too", { timeout: 60_000 }, async () => {
  const loose = { strict: false, exactOptionalPropertyTypes: false };
  expect(
    await compile(ours("typescript"), ["all.mts"], {
      ...nodenext,
      ...browser,
      types: ["node"],
      skipLibCheck: true,
      ...loose,
    }),
  ).toBe("");
});

test("what optional properties take is measured, not believed", { timeout: 60_000 }, async () => {
  const file = "measured.mts";
  writeFileSync(
    join(packed.folder, file),
    'import { measured } from "./options.mjs";\nexport const strict: "nothing" = measured;\n',
  );
  const output = await compile(ours("typescript"), [file], { ...nodenext, ...browser });
  expect(output).toContain(
    `${basename(file)}(2,14): error TS2322: Type '"strict"' is not assignable to type '"nothing"'.`,
  );
});
