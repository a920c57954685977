import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "examples/**/*.test.ts"],
    setupFiles: ["test/support/strict.ts"],
    // A test that passes at the second try is a failing test.
    retry: 0,
    // No test waits for time to pass: these only end what hangs, on the slowest machine there is.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // In continuous integration .ci/run counts from the second report.
    reporters: process.env["CI"]
      ? ["default", ["json", { outputFile: "node_modules/.cache/project-automation/tests.json" }]]
      : ["default"],
  },
});
