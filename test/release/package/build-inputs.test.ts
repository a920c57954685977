import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { BINS, ENTRY_POINTS } from "../../../config/entry-points.ts";

const root = resolve(import.meta.dirname, "../../..");
const { scripts } = JSON.parse(readFileSync(resolve(root, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

const inputs = JSON.parse(readFileSync(resolve(root, "config/build-inputs.json"), "utf8")) as string[];

/** The files of this repository that a program consists of. */
async function filesOf(entryPoints: string[]): Promise<string[]> {
  const { metafile } = await build({
    entryPoints,
    absWorkingDir: root,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    outdir: "never-written",
    write: false,
    metafile: true,
    logLevel: "error",
  });
  return Object.keys(metafile.inputs);
}

test("the set-up watches every file that the build consists of, runs or reads", async () => {
  const programs = [...(scripts["build"] ?? "").matchAll(/node (\S+)/g)].map(([, file = ""]) => file);
  expect(programs).not.toEqual([]);
  const sources = [...ENTRY_POINTS, ...BINS].map(({ source }) => source);
  const files = new Set(await filesOf(["tsup.config.ts", ...programs, ...sources]));
  for (const file of await filesOf(["tsup.config.ts", ...programs])) {
    const text = readFileSync(resolve(root, file), "utf8");
    for (const [, read = ""] of text.matchAll(/"(?:\.\.\/)?([\w-]+\.(?:json|ts))"/g)) files.add(read);
  }
  files.add("tsconfig.json"); // tsup and its compiler look for it
  expect([...files]).toEqual(expect.arrayContaining(["config/entry-points.ts", "package-lock.json", "package.json"]));
  const isWatched = (file: string): boolean => inputs.some((input) => `${file}/`.startsWith(`${input}/`));
  expect([...files].filter((file) => !isWatched(file))).toEqual([]);
});
