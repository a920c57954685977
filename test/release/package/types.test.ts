import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ENTRY_POINTS, PEERS, WITH_OWN_ZOD } from "../../../config/entry-points.ts";
import { type Compile, nativeCompiler } from "../../support/compilers.ts";
import { missingTools, runsTools } from "../../support/consumer-tools.ts";
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
const newest = nativeCompiler();
if (!runsTools) console.log(`Not compiled with TypeScript 5.9: ${missingTools}.`);

const browser = { lib: ["es2022", "dom", "dom.iterable", "dom.asynciterable"], types: [] };
const nodenext = { module: "nodenext", moduleResolution: "nodenext" };

test("without exactOptionalPropertyTypes and strict, too", () => {
  const loose = { strict: false, exactOptionalPropertyTypes: false, skipLibCheck: true };
  expect(complaints(newest.compile, ["all.mts"], { ...nodenext, ...browser, types: ["node"], ...loose })).toEqual([]);
});
