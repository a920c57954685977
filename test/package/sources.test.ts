/** Where the published code comes from: its source maps, and the licences of what is bundled. */
import { globSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { leaveOutWhatNeverRuns } from "../../config/bundled.ts";
import { DOOR_FILES, installedNodes, type Packed, PEERS, pack, readJson, runScript } from "../support/packed.ts";

const repository = resolve(import.meta.dirname, "../..");
let packed: Packed;
beforeAll(() => {
  packed = pack();
}, 60_000);
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

const read = (file: string): string => readFileSync(join(packed.root, file), "utf8");
const nameOf = (file: string): string | undefined => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];

test("the licence of every package whose code is in the files stands in the notices, in full", async () => {
  const { metafile } = await build({
    entryPoints: [...DOOR_FILES, "testing/bin"].map(
      (file) => globSync(`src/${file}{,/index}.ts`, { cwd: repository })[0] ?? `no source of ${file}`,
    ),
    absWorkingDir: repository,
    bundle: true,
    format: "esm",
    platform: "node",
    external: [...PEERS],
    outdir: "never-written",
    write: false,
    metafile: true,
    logLevel: "error",
    plugins: [leaveOutWhatNeverRuns],
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const names = inputs.flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? (nameOf(file) ?? []) : []));
  const bundled = [...new Set(names)].sort();
  expect(bundled).toEqual(["ky", "p-retry", "zod"]);

  const notices = read("THIRD-PARTY-NOTICES.txt");
  for (const name of bundled) {
    const folder = join(repository, "node_modules", name);
    const { version } = readJson(join(folder, "package.json")) as { version: string }; // npm put it there
    const [licence = "none"] = readdirSync(folder).filter((file) => /^licen[cs]e/i.test(file));
    expect(notices).toContain(`${name} ${version} (MIT)\n\n${readFileSync(join(folder, licence), "utf8").trim()}\n`);
  }
});

describe("source maps", () => {
  test("have every source, and name the one that a file ends with", () => {
    for (const file of packed.files.filter((file) => /\.c?js$/.test(file))) {
      expect(read(file)).toContain(`//# sourceMappingURL=${file.split("/").pop()}.map`);
      const map = readJson(join(packed.root, `${file}.map`)) as { sources: string[]; sourcesContent?: unknown[] };
      const { sourcesContent = [] } = map; // a door that only hands on what is in chunks has no source of its own
      expect(sourcesContent).toHaveLength(map.sources.length);
      for (const [index, source] of map.sources.entries()) {
        expect(sourcesContent[index], `${source} of ${file}`).toBeTypeOf("string");
        const isOurs = nameOf(source) === undefined;
        if (isOurs) expect(sourcesContent[index]).toBe(sourceOf(source));
      }
    }
  });

  function sourceOf(source: string): string {
    const path = /(?:^|\/)(src\/.*)$/.exec(source)?.[1];
    if (path === undefined) throw new Error(`${source} is no source of this package`);
    return readFileSync(join(repository, path), "utf8");
  }

  test.each(installedNodes())("lead a stack trace to the sources, on Node $version", ({ path: node }) => {
    const refused = `
      try { new Client({ baseUrl: "ftp://automation.example.com" }); } catch (error) { console.log(error.stack); }`;
    const programs = [
      { name: "stack.mjs", code: `import { Client } from "project-automation"; ${refused}` },
      { name: "stack.cjs", code: `const { Client } = require("project-automation"); ${refused}` },
    ];
    for (const { name, code } of programs) {
      const stack = runScript({ folder: packed.folder, name, code, node, flags: ["--enable-source-maps"] });
      expect(stack).toMatch(/src\/options\.ts:\d+:\d+/);
      expect(stack).toMatch(/src\/client\.ts:\d+:\d+/);
    }
  });
});
