import { readFile } from "node:fs/promises";
import { defineConfig, type Options } from "tsup";

/** The doors of the package, as `exports` in package.json names them. */
const doors = {
  index: "src/index.ts",
  schemas: "src/schemas/index.ts",
  "testing/index": "src/testing/index.ts",
  "testing/msw": "src/testing/msw.ts",
  "testing/node": "src/testing/node.ts",
};

/**
 * Zod keeps its configuration on `globalThis`, for every copy of it in a program. The copy in this package keeps its own,
 * so that importing the package adds no global, and an application's `z.config()` does not reach into the client.
 */
const keepZodPrivate: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "keep-zod-private",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/](core|registries)\.js$/ }, async ({ path }) => ({
      contents: `const zodGlobals = {}; ${(await readFile(path, "utf8")).replaceAll("globalThis", "zodGlobals")}`,
    })),
};

const shared: Options = {
  target: "es2022",
  platform: "neutral",
  // Nothing is installed along with this package: what it uses of these is part of the published files.
  noExternal: ["ky", "p-retry", "is-network-error", /^zod(\/|$)/],
  esbuildPlugins: [keepZodPrivate],
  dts: { entry: doors },
  sourcemap: true,
  silent: true,
};

export default defineConfig([
  // Doors share chunks, so each class exists once. In CommonJS each door carries its own copy.
  { ...shared, format: "esm", entry: { ...doors, bin: "src/testing/bin.ts" } },
  { ...shared, format: "cjs", entry: doors },
]);
