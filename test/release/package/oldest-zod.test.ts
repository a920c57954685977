/** The schemas with the oldest zod that they work with. */
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Packed, pack, runScript } from "../../support/packed.ts";

const repository = resolve(import.meta.dirname, "../../..");
const oldest = join(repository, "node_modules/zod-oldest");
let packed: Packed;
beforeAll(() => {
  packed = pack();
  // A copy, since zod 3.25 imports itself by its name.
  cpSync(oldest, join(packed.folder, "node_modules/zod"), { recursive: true });
});
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

test.each([
  { name: "oldest.mjs", load: (from: string) => `(await import("${from}"))` },
  { name: "oldest.cjs", load: (from: string) => `require("${from}")` },
])("they check, are extended and written as JSON Schema: $name", ({ name, load }) => {
  const code = `
    const z = ${load("zod/v4-mini")};
    const { CreatedTokenSchema, IssueSchema, ProjectSchema, pageOf } = ${load("project-automation/schemas")};
    const Team = z.extend(ProjectSchema, { team: z.string() });
    const token = { id: "t", name: "n", key_id: "k", scopes: [], plaintext: "p" };
    const accepts = (expires_at) => CreatedTokenSchema.safeParse({ ...token, expires_at }).success;
    console.log(JSON.stringify([
      pageOf(Team).parse({ data: [{ id: "p", name: "n", team: "t", more: 1 }], next_cursor: null }).data[0].more,
      pageOf(Team).safeParse({ data: [{ id: "p", name: "n" }], next_cursor: null }).success,
      IssueSchema.safeParse({ number: 1.5, title: "t", status: "s" }).success,
      ["2030-01-01T00:00:00Z", "2030-01-01T00:00:00.5+00:00", "2030-02-30T00:00:00Z"].map(accepts),
      z.toJSONSchema(Team).required,
    ]));`;
  const printed = runScript({ folder: packed.folder, name, code, node: process.execPath });
  expect(JSON.parse(printed)).toEqual([1, false, false, [true, true, false], ["id", "name", "team"]]);
});

test("programs that build on them compile", () => {
  copyFileSync(join(import.meta.dirname, "consumers/types/schemas.ts"), join(packed.folder, "schemas.mts"));
  const compilerOptions = {
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable", "dom.asynciterable"],
    types: [],
    module: "nodenext",
    strict: true,
    noEmit: true,
    skipLibCheck: true, // the oldest zod need not suit the newest compiler
  };
  writeFileSync(join(packed.folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["schemas.mts"] }));
  const compiler = join(repository, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [compiler], { cwd: packed.folder, encoding: "utf8" });
  expect(stdout).toBe("");
});
