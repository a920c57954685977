import { rm } from "node:fs/promises";
import { defineConfig, type Options } from "tsup";
import { leaveOutWhatNeverRuns } from "./config/bundled.ts";

/** The doors of the package, as `exports` in package.json names them. */
const doors = {
  index: "src/index.ts",
  "bulk/index": "src/bulk/index.ts",
  "bulk/node": "src/bulk/node.ts",
  "opentelemetry/index": "src/opentelemetry/index.ts",
  "redis/index": "src/redis/index.ts",
  schemas: "src/schemas/index.ts",
  "testing/index": "src/testing/index.ts",
  "testing/msw": "src/testing/msw.ts",
  "testing/node": "src/testing/node.ts",
};

/**
 * What programs use by itself. As entries of their own these become files of their own, which a bundler can leave out as
 * a whole (`sideEffects: false`), so that who imports one of them gets little else. Only the shared files are published.
 */
const apart = [
  "auth/rotating-token",
  "client",
  "errors/guard",
  "errors/api-errors",
  "rate-limit/memory-rate-limiter",
  "request/path",
  "scopes",
  "version",
];
const apartFolder = "apart";

/**
 * A door imports chunks that it takes nothing from, since it shares files with others. Bundlers warn of such imports
 * in a package without side effects. Lines stay where they are, so source maps hold.
 */
const dropBareImports: NonNullable<Options["plugins"]>[number] = {
  name: "drop-bare-imports",
  renderChunk: (code, { map }) => ({ code: code.replaceAll(/^import "\.[^"]+";$/gm, ""), map: map ?? null }),
};

const shared: Options = {
  target: "es2022",
  platform: "neutral",
  // Nothing is installed along with this package: what it uses of these is part of the published files.
  noExternal: ["ky", "p-retry", "is-network-error", /^zod(\/|$)/],
  esbuildPlugins: [leaveOutWhatNeverRuns],
  dts: { entry: doors },
  sourcemap: true,
  silent: true,
};

export default defineConfig([
  // Doors share chunks, so each class exists once. In CommonJS each door carries its own copy.
  {
    ...shared,
    format: "esm",
    plugins: [dropBareImports],
    entry: {
      ...doors,
      bin: "src/testing/bin.ts",
      ...Object.fromEntries(apart.map((file) => [`${apartFolder}/${file}`, `src/${file}.ts`])),
    },
    onSuccess: () => rm(`dist/${apartFolder}`, { recursive: true }),
  },
  { ...shared, format: "cjs", entry: doors },
]);
