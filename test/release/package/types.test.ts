/** The declarations, as compilers of users see them: every entry point, in ESM and CommonJS, with one library or the other. */
import { spawnSync } from "node:child_process";
import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENTRY_POINTS, PEERS, WITH_OWN_ZOD } from "../../../config/entry-points.ts";
import { type Compile, compilerInProcess, nativeCompiler } from "../../support/compilers.ts";
import { missingTools, runsTools, toolFile } from "../../support/consumer-tools.ts";
import { link, type Packed, pack } from "../../support/packed.ts";

const withoutSchemas = ENTRY_POINTS.filter(({ name }) => name !== WITH_OWN_ZOD);
const programs = resolve(import.meta.dirname, "consumers/types");
let packed: Packed;
beforeAll(() => {
  packed = pack();
  link(packed.folder, ...PEERS, "@types");
  for (const file of ["copies.mts", "copies.cts"]) copyFileSync(join(programs, file), join(packed.folder, file));
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
});
afterAll(() => {
  newest.close();
  rmSync(packed.folder, { recursive: true, force: true });
});

/** What a compiler complains of in files of the project; of the declarations of other packages, too, unless told. */
function complaints(
  compile: Compile,
  files: readonly string[],
  { checksOthers = true, ...options }: Settings,
): string[] {
  const compilerOptions = {
    target: "es2022",
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: false,
    skipDefaultLibCheck: true, // the compiler's own library, which is half of what there is to check
    ...options,
  };
  return [...compile({ folder: packed.folder, files, options: compilerOptions, checksOthers })];
}
interface Settings extends Readonly<Record<string, unknown>> {
  readonly checksOthers?: boolean;
}

const ours = (name: string): string => resolve(import.meta.dirname, "../../../node_modules", name);
const newest = nativeCompiler();
const compilers = [
  { expected: "5.4", ...compilerInProcess(ours("typescript-5.4")) },
  { expected: "6.0", ...compilerInProcess(ours("typescript")) },
  { expected: "7.0", ...newest },
  ...(runsTools ? [{ expected: "5.9", ...compilerInProcess(toolFile("typescript")) }] : []),
];
if (!runsTools) console.log(`Not compiled with TypeScript 5.9: ${missingTools}.`);

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
// The declarations of other packages are the same by both.
const cases = libraries.flatMap(({ library, options }) =>
  resolutions.map((resolution) => ({
    ...resolution,
    library,
    options: { ...options, ...resolution.options, checksOthers: resolution.by === "nodenext" },
  })),
);

describe.each(compilers)("TypeScript $expected", ({ expected, version, compile }) => {
  test("is what it says", () => {
    expect(version).toMatch(new RegExp(`^${expected}\\.`));
  });

  // The declarations of zod need a later compiler than 5.4.
  const users = expected === "5.4" ? ["program", "options"] : ["program", "options", "schemas"];

  test.each(cases)("compiles the declarations and their users: $by, $library", ({ options, extensions }) => {
    const files = users.flatMap((name) => extensions.map((extension) => `${name}.${extension}`));
    expect(complaints(compile, files, options)).toEqual([]);
  });

  test("takes what one copy of the package has made for the other", () => {
    const settings = {
      ...nodenext,
      ...browser,
      types: ["node"],
      checksOthers: false,
      skipLibCheck: expected === "5.4",
    };
    expect(complaints(compile, ["copies.mts", "copies.cts"], settings)).toEqual([]);
  });

  // msw is ESM, and before 5.8 no compiler lets a CommonJS file import that.
  const reaches = (extension: string): boolean => extension !== "cts" || expected !== "5.4";

  // The types of other packages, such as msw, need not suit every compiler.
  test.each(resolutions)("compiles every entry point: $by", ({ options, extensions }) => {
    const files = extensions
      .filter(reaches)
      .map((extension) => `${expected === "5.4" ? "others" : "all"}.${extension}`);
    const settings = { ...browser, types: ["node"], ...options, checksOthers: false };
    expect(complaints(compile, files, settings)).toEqual([]);
  });
});

test("without exactOptionalPropertyTypes and strict, too", () => {
  const loose = { strict: false, exactOptionalPropertyTypes: false, skipLibCheck: true };
  expect(complaints(newest.compile, ["all.mts"], { ...nodenext, ...browser, types: ["node"], ...loose })).toEqual([]);
});

test("what optional properties take is measured, not believed", () => {
  const file = "measured.mts";
  writeFileSync(
    join(packed.folder, file),
    'import { measured } from "./options.mjs";\nexport const strict: "nothing" = measured;\n',
  );
  expect(complaints(newest.compile, [file], { ...nodenext, ...browser })).toContain(
    `${file}(2,14): error TS2322: Type '"strict"' is not assignable to type '"nothing"'.`,
  );
});

test("what a function returns has a name in declarations of the user's own", () => {
  const code = `
    import { createEmulator } from "project-automation/testing";
    import { emulatorHandlers } from "project-automation/testing/msw";
    export const handlers = emulatorHandlers(createEmulator());`;
  writeFileSync(join(packed.folder, "declared.mts"), code);
  const options = ["--declaration", "--noEmit", "--skipLibCheck", "--strict", "--module", "nodenext", "declared.mts"];
  const { stdout } = spawnSync(process.execPath, [ours("typescript/bin/tsc"), ...options], {
    cwd: packed.folder,
    encoding: "utf8",
  });
  expect(stdout).toBe("");
});
