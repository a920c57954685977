import { resolve } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";

/** Tests that compute, in this process alone: they share its modules. */
const COMPUTE = ["test/unit/**/*.test.ts", "test/wire/**/*.test.ts"];
/** Tests that measure time on this machine: they run after all others, one file at a time. */
const ALONE = "test/**/*.alone.test.ts";
/** Many files wait for a process or a window more than they compute. */
const SIDE_BY_SIDE = 3;

export default defineConfig({
  test: {
    setupFiles: ["test/support/strict.ts"],
    // Programs that tests start, hundreds of them, load the sources without compiling them again.
    env: { NODE_COMPILE_CACHE: resolve(import.meta.dirname, "node_modules/.cache/project-automation/compiled") },
    // A test that passes at the second try is a failing test.
    retry: 0,
    // No test waits for time to pass: these only end what hangs, on the slowest machine there is.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // In continuous integration .ci/run counts from the second report.
    reporters: process.env["CI"]
      ? ["default", ["json", { outputFile: "node_modules/.cache/project-automation/tests.json" }]]
      : ["default"],
    projects: [
      {
        extends: true,
        test: {
          name: "in process",
          include: COMPUTE,
          exclude: [...configDefaults.exclude, ALONE],
          isolate: false,
          maxWorkers: SIDE_BY_SIDE,
        },
      },
      {
        extends: true,
        test: {
          name: "with others",
          include: ["test/**/*.test.ts", "examples/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...COMPUTE, ALONE],
          maxWorkers: SIDE_BY_SIDE,
        },
      },
      {
        extends: true,
        test: {
          name: "alone",
          include: [ALONE],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          // Its cases wait for timeouts of their own servers.
          maxConcurrency: 20,
        },
      },
    ],
  },
});
