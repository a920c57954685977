import { rm } from "node:fs/promises";
import { basename } from "node:path";
import { defineConfig, type Options } from "tsup";
import type { SHARED_FILES } from "./build/shared-files.ts";
import {
  BINS,
  BUNDLED,
  BUNDLED_IN_BIN,
  ENTRY_POINTS,
  type EntryPoint,
  PEERS,
  REPLACED_IN_BROWSERS,
  WITH_CLASSIC_ZOD,
  WITH_OWN_ZOD,
} from "./config/entry-points.ts";

const entriesOf = (entries: readonly EntryPoint[]): Record<string, string> =>
  Object.fromEntries(entries.map(({ file, source }) => [file, source]));

const withOwnZod = ENTRY_POINTS.filter(({ name }) => name === WITH_OWN_ZOD);
const withClassicZod = ENTRY_POINTS.filter(({ name }) => name === WITH_CLASSIC_ZOD);
const others = ENTRY_POINTS.filter(({ name }) => name !== WITH_OWN_ZOD && name !== WITH_CLASSIC_ZOD);
const emulator = others.filter(({ source }) => source.startsWith("src/testing/"));
const withClient = others.filter((entry) => !emulator.includes(entry));

/** An entry that is not published itself: the code that it shares with the others comes into a file of its own. */
const withoutClient = "without-client";

const shared: Options = {
  target: "es2022",
  platform: "neutral",
  splitting: true,
  silent: true,
  external: [...PEERS, /^node:/],
};

// Nothing is installed along with this package: what it uses of these is part of the published files.
const matching = (names: readonly string[]): RegExp[] => names.map((name) => new RegExp(`^${name}(/|$)`));
const bundling: Options = {
  ...shared,
  noExternal: matching([...BUNDLED, "is-network-error"]),
};

/** What is bundled is as it was published. */
const withNode: Options = { removeNodeProtocol: false };

/** ky names the global TextEncoder as soon as it is imported, and jsdom has none. */
const importable: Options = { ...bundling, inject: ["build/text-encoder.ts"] };

/**
 * What has no `zod/v4-mini` says so. An import that fails names the file that it stands in, and so the version in its
 * name; a `require` that fails names no file.
 */
const requiringOwnZod: NonNullable<Options["banner"]> = ({ format }) => {
  const [needs = ""] = withOwnZod.map(({ file }) => /needs-zod-(.+)-or-later$/.exec(file)?.[1]);
  const message = `project-automation/schemas needs zod ${needs} or later: there is none, or an older one`;
  const check = `"use strict";
try { require("zod/v4-mini"); } catch (cause) { throw new Error("${message}", { cause }); }`;
  return format === "cjs" ? { js: check } : {};
};

/** Names the shared files of a build: `build/shared-files.ts` gives each its name. */
const sharing = (build: keyof typeof SHARED_FILES): Options => ({
  esbuildOptions: (options) => {
    options.chunkNames = `${build}-[hash]`;
  },
});

/** Keeps a file that bundlers replace apart: the shared files beside its folder import it. */
const replaceable: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "replaceable",
  setup: (build) => {
    build.onResolve({ filter: /\/[\w-]*write-evidence\.ts$/ }, ({ path, kind }) => {
      const replaced = REPLACED_IN_BROWSERS.find(({ source }) => basename(source) === basename(path));
      return kind === "entry-point" || replaced === undefined
        ? undefined
        : { path: `./${replaced.file}.js`, external: true };
    });
  },
};

/** Declarations leave out what is marked `@internal`: what only this package calls, and what tells it its own objects. */
const dts: Options["dts"] = { entry: entriesOf(ENTRY_POINTS), compilerOptions: { stripInternal: true } };

export default defineConfig([
  // Entry points share files, so each class exists once; in CommonJS each has a copy of its own. Each file takes its time at
  // import. The entry points that work with a client all import client/index.ts, so what they share is one file.
  {
    ...importable,
    ...sharing("client"),
    esbuildPlugins: [replaceable],
    format: "esm",
    entry: { ...entriesOf(withClient), [withoutClient]: "build/without-client.ts" },
    dts,
    onSuccess: () => rm(`dist/${withoutClient}.js`),
  },
  // Each is whole, and shares nothing with the others: a page that is not bundled loads one file more, not two.
  { ...shared, format: "esm", splitting: false, entry: entriesOf(REPLACED_IN_BROWSERS) },
  // The emulator stands for the service, and shares no class with the client.
  {
    ...importable,
    ...withNode,
    ...sharing("emulator"),
    format: "esm",
    entry: entriesOf(emulator),
  },
  {
    ...importable,
    ...withNode,
    format: "cjs",
    splitting: false,
    entry: entriesOf(others),
    dts,
  },
  { ...shared, format: ["esm", "cjs"], splitting: false, entry: entriesOf(withOwnZod), banner: requiringOwnZod },
  { ...bundling, format: ["esm", "cjs"], splitting: false, entry: entriesOf(withClassicZod) },
  // A program of Node, which brings all that it needs.
  {
    ...bundling,
    ...withNode,
    ...sharing("command"),
    noExternal: matching([...BUNDLED, "is-network-error", ...BUNDLED_IN_BIN]),
    platform: "node",
    format: "esm",
    entry: entriesOf(BINS),
  },
]);
