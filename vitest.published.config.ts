import { resolve } from "node:path";
import { defineConfig } from "vitest/config";

const root = import.meta.dirname;
const doors = { "src/index.ts": "dist/index.js", "src/schemas/index.ts": "dist/schemas.js" };

/**
 * Runs the suites against the published files in place of `src/`, after `npm run build`: what those leave out of the bundled
 * packages (docs/decisions/0007) must be missed by nobody.
 */
export default defineConfig({
  root,
  plugins: [
    {
      name: "published-files",
      enforce: "pre",
      resolveId(source, importer) {
        const found = importer && source.startsWith(".") ? resolve(importer, "..", source) : source;
        const door = Object.entries(doors).find(([from]) => found === resolve(root, from));
        return door && resolve(root, door[1]);
      },
    },
  ],
  test: {
    include: ["test/wire/**/*.test.ts", "test/unit/schemas/*.test.ts"],
    setupFiles: ["test/support/strict.ts"],
    retry: 0,
    testTimeout: 60_000,
  },
});
