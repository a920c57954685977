import { resolve } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { LIMIT_MS, TEST_LIMIT_MS } from "./test/support/limits.ts";

const CACHE = resolve(import.meta.dirname, "node_modules/.cache/project-automation");

/** Which of the npm scripts runs this. */
const COMMAND = (process.env["npm_lifecycle_event"] ?? "vitest").replace(":", "-");

/** Tests that compute, many of them under fake timers: what opens sockets or starts programs is in no process of theirs. */
const COMPUTE = [
  "test/client/unit/**/*.test.ts",
  "test/client/wire/**/*.test.ts",
  "test/bulk/asks-first.test.ts",
  "test/bulk/outage.test.ts",
  "test/bulk/streams.test.ts",
  "test/mcp/waits.test.ts",
  "test/opentelemetry/**/*.test.ts",
  "test/redis/circuit-breaker.test.ts",
  "test/redis/leaving.test.ts",
  "test/redis/redis-away.test.ts",
  "test/emulator/fetch.test.ts",
];
/** Tests of the package as it is published. */
const PACKED = ["test/release/package/**/*.test.ts", "test/client/runtimes/**/*.test.ts"];
/** Tests of documents and examples, and those that need browsers, other runtimes, or processes to kill or to weigh. */
const PROGRAMS = [
  "test/release/docs/**/*.test.ts",
  "test/release/examples/**/*.test.ts",
  "test/release/proxies/**/*.test.ts",
  "examples/**/*.test.ts",
  "test/client/browser/**/*.test.ts",
  "test/page/in-browsers.test.ts",
  "test/release/explore/**/*.test.ts",
  "test/client/networks/other-runtimes.test.ts",
  "test/client/networks/broken-connections.test.ts",
  "test/client/networks/matrix.test.ts",
  "test/client/networks/evidence.test.ts",
  "test/bulk/kill.test.ts",
  "test/bulk/two-containers.test.ts",
  "test/redis/fleet.test.ts",
  "test/client/wire/time/signal-memory.test.ts",
];
/** Tests that measure time on this machine: they run after all others, one file at a time. */
const ALONE = "test/**/*.alone.test.ts";

/** The files that take longest, longest first; those that mostly wait (the fleet, the kills) apart, beside some that compute. */
const LONG = [
  "test/release/examples/import-with-",
  "test/client/runtimes/conformance",
  "test/release/package/types",
  "test/redis/fleet",
  "test/release/docs/next",
  "test/release/package/consumers",
  "test/bulk/kill",
  "test/page/in-browsers",
  "test/release/package/compiled",
  "test/release/package/peers",
  "test/release/docs/snippets",
  "test/release/package/use",
  "test/release/docs/examples-in-docstrings",
  "test/release/explore/",
  "test/doctor/command",
  "test/release/examples/",
];

/** Long files first, so that none of them runs at last and alone. Files of one project follow each other: they share processes. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONG.findIndex((file) => moduleId.includes(`/${file}`));
      return place < 0 ? LONG.length : place;
    };
    const order = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;
    return (await super.sort(files)).sort((a, b) => order(a) - order(b) || rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    setupFiles: ["test/support/strict.ts"],
    // Programs that tests start, hundreds of them, load the sources without compiling them again.
    env: { NODE_COMPILE_CACHE: `${CACHE}/compiled` },
    // Files run one after the other in a few processes and share their modules: a file leaves nothing behind.
    isolate: false,
    // More than there are cores: many files wait for a process or a window more than they compute.
    maxWorkers: 4,
    sequence: { sequencer: LongFirst },
    // A test that passes at the second try is a failing test.
    retry: 0,
    testTimeout: TEST_LIMIT_MS,
    hookTimeout: TEST_LIMIT_MS,
    expect: { poll: { interval: 1, timeout: LIMIT_MS } },
    // In continuous integration .ci/run counts from the second report, one for each command.
    reporters: process.env["CI"]
      ? ["default", ["json", { outputFile: `${CACHE}/reports/${COMMAND}.json` }]]
      : ["default"],
    // Two tiers: `npm test` runs `src:*`, which a line of src/ may change; `npm run test:release` runs `release:*`.
    projects: [
      {
        extends: true,
        test: {
          name: "src:compute",
          include: COMPUTE,
          exclude: [...configDefaults.exclude, ...PROGRAMS, ALONE],
        },
      },
      {
        extends: true,
        test: {
          name: "src:sockets",
          include: ["test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...COMPUTE, ...PACKED, ...PROGRAMS, ALONE],
        },
      },
      {
        extends: true,
        test: {
          name: "release:programs",
          include: PROGRAMS,
        },
      },
      {
        extends: true,
        test: {
          name: "release:packed",
          include: PACKED,
          // Compilers run here for seconds: to optimize their code costs more than it brings.
          execArgv: ["--no-opt"],
          globalSetup: "test/support/pack.ts",
        },
      },
      {
        extends: true,
        test: {
          name: "release:alone",
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
