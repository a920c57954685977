import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { defineConfig, type Options } from "tsup";
import { BINS, BUNDLED, ENTRY_POINTS, type EntryPoint, PEERS, WITH_OWN_ZOD } from "./config/entry-points.ts";

const entriesOf = (entries: readonly EntryPoint[]): Record<string, string> =>
  Object.fromEntries(entries.map(({ file, source }) => [file, source]));

const withOwnZod = ENTRY_POINTS.filter(({ name }) => name === WITH_OWN_ZOD);
const others = ENTRY_POINTS.filter(({ name }) => name !== WITH_OWN_ZOD);

/**
 * The files that `src/index.ts` exports values of, as entries too: each becomes a file of its own, which a bundler can
 * leave out as a whole (`sideEffects: false`), so that a program that imports one of them gets little else. Only the
 * shared files are published.
 */
const apartFolder = "apart";
const apart = Object.fromEntries(
  [...readFileSync("src/index.ts", "utf8").matchAll(/^(?:export|\}).* from "\.\/(.+)\.ts";$/gm)]
    .filter(([line]) => !line.startsWith("export type"))
    .map(([, file]) => [`${apartFolder}/${file}`, `src/${file}.ts`]),
);

const shared: Options = { target: "es2022", platform: "neutral", splitting: true, silent: true, external: [...PEERS] };

// Nothing is installed along with this package: what it uses of these is part of the published files.
const bundling: Options = {
  ...shared,
  noExternal: [...BUNDLED, "is-network-error"].map((name) => new RegExp(`^${name}(/|$)`)),
  metafile: true, // scripts/bundled-packages.mjs reads it
};

export default defineConfig([
  // Entry points share files, so each class exists once. In CommonJS each has a copy of its own.
  {
    ...bundling,
    format: "esm",
    entry: { ...entriesOf(others), ...entriesOf(BINS), ...apart },
    dts: { entry: entriesOf(ENTRY_POINTS) },
    onSuccess: () => rm(`dist/${apartFolder}`, { recursive: true }),
  },
  {
    ...bundling,
    format: "cjs",
    splitting: false,
    entry: entriesOf(others),
    dts: { entry: entriesOf(ENTRY_POINTS) },
  },
  { ...shared, format: ["esm", "cjs"], splitting: false, entry: entriesOf(withOwnZod) },
]);
