/**
 * The layers of the code: what may import what. `npm run lint` checks it, type imports included.
 *
 * A file imports from its own layer and from those below, never upwards. Every file under src/ belongs to one layer; a
 * new file that matches none is an error, so that its place is decided here first. `a/` is a whole folder; a file that
 * matches two layers, as a port in the folder of its part does, belongs to the lower one.
 */
const { existsSync } = require("node:fs");

/** One concern each; none of these knows another. */
const parts = {
  token: ["core/token/"],
  logging: ["client/logging.ts"],
  paging: ["core/paging/", "core/list.ts"],
  "rate-limit": ["core/rate-limit/"],
  call: [
    "core/call/call.ts",
    "core/call/create-error.ts",
    "core/call/refusal.ts",
    "core/call/output.ts",
    "core/call/call-events.ts",
    "core/wire/body.ts",
  ],
};

const layers = [
  { name: "checks", files: ["core/checks/", "core/wire/json.ts", "core/wire/headers.ts"] },
  {
    name: "values",
    files: ["core/time/", "core/wire/url.ts", "core/wire/service.ts", "core/wire/method.ts", "client/version.ts"],
  },
  { name: "errors", files: ["core/errors/"] },
  {
    name: "foundation",
    files: ["core/secrets/", "core/call/standard-schema.ts", "core/call/zod-schema.ts", "core/paging/page.ts"],
  },
  { name: "records", files: ["service/models.ts", "service/scopes.ts", "service/schemas/"] },
  // Interfaces that the parts agree on, and operations as data.
  {
    name: "ports",
    files: [
      "core/events.ts",
      "core/instrumentation.ts",
      "core/token/token-source.ts",
      "core/token/token-format.ts",
      "core/rate-limit/rate-limiter.ts",
      "core/wire/http-request.ts",
      "core/wire/fetch-options.ts",
      "core/wire/head.ts",
      "core/wire/retry-after.ts",
      "core/call/outcome.ts",
      "core/call/operation.ts",
      "core/wire/path.ts",
      "core/wire/query.ts",
      "core/call/settings.ts",
      "core/call/internals.ts",
      "core/call/call-options.ts",
      "core/call/api-promise.ts",
      "core/call/decide-retry.ts",
    ],
  },
  { name: "parts", files: Object.values(parts).flat() },
  // One call, top to bottom.
  {
    name: "call-path",
    files: [
      "core/call/send.ts",
      "core/call/retry.ts",
      "core/call/attempt.ts",
      "core/call/exchange.ts",
      "core/call/http.ts",
      "core/call/write-evidence.ts",
      "core/call/no-write-evidence.ts",
    ],
  },
  // The resources of the service: an operation in, `send` out.
  { name: "resources", files: ["service/", "core/custom.ts"] },
  // The composition root, the only place that knows all parts.
  {
    name: "root",
    files: [
      "client/client.ts",
      "client/context.ts",
      "client/client-settings.ts",
      "client/options.ts",
      "client/environment.ts",
    ],
  },
  { name: "client", files: ["client/index.ts"] },
  // Files that a user names and this package keeps: one rule for every product.
  { name: "files", files: ["files/"] },
  // One folder for each other entry point, named as it is imported.
  {
    name: "products",
    files: [
      "command/",
      "bulk/",
      "opentelemetry/",
      "redis/",
      "emulator/",
      "page/",
      "explore/",
      "testing/",
      "doctor/",
      "mcp/",
    ],
  },
  // The bin, on top of all.
  { name: "bin", files: ["commands.ts", "bin.ts"] },
];

/** The sources of what package.json publishes, and of the emulator's page. A file that none of them reaches is dead. */
const { exports: published, bin, browser } = require("../package.json");
const entries = [
  ...Object.values(published).flatMap((target) => target.import?.default ?? []),
  ...Object.values(bin),
  ...Object.values(browser),
  "dist/page/browser/main.js", // build/page.ts puts it into page/document.ts
]
  .map((file) => file.replace(/^(?:\.\/)?dist\/(.+)\.js$/, "$1.ts").replace(/needs-[^/]+$/, "index.ts"))
  .map((file) =>
    file === "index.ts"
      ? "client/index.ts"
      : file.replace(/^(?=schemas\/)/, "service/").replace(/^(?=call\/)/, "core/"),
  );

/** The floor of the client, which every product may use. */
const foundation = [
  "core/secrets/",
  "core/checks/",
  "core/wire/json.ts",
  "core/wire/headers.ts",
  "core/time/",
  "core/errors/",
  "service/models.ts",
  "service/scopes.ts",
  "core/wire/url.ts",
  "core/wire/service.ts",
  "core/wire/method.ts",
  "core/wire/retry-after.ts",
  "client/version.ts",
];

/** A resource says what it wants, and does not know how that is done. */
const resourcesKnow = [
  "service/",
  "core/custom.ts",
  "core/list.ts",
  "core/paging/",
  "service/schemas/",
  ...foundation,
  "core/call/standard-schema.ts",
  "core/call/zod-schema.ts",
  "core/call/send.ts",
  "core/call/operation.ts",
  "core/wire/path.ts",
  "core/wire/query.ts",
  "core/call/settings.ts",
  "core/call/call-options.ts",
  "core/call/api-promise.ts",
  "core/call/decide-retry.ts",
];

/** Processes share the rate limiter alone. */
const redisKnows = ["redis/", "client/index.ts", "core/rate-limit/", ...foundation];

/** Bulk writes know errors, which of them may pass, and what has become of a write. */
const bulkKnows = [
  "bulk/",
  "files/",
  "client/index.ts",
  "core/call/api-promise.ts",
  "core/call/internals.ts",
  "core/call/outcome.ts",
  "core/call/decide-retry.ts",
  "core/call/settings.ts",
  "core/instrumentation.ts",
  ...foundation,
];

/** Entry points that share files with the client import what is public as their users do: see tsup.config.ts. */
const withClient = ["bulk/", "redis/", "opentelemetry/"];
const behindIndex = ["client/client.ts", "core/errors/classes.ts", "service/scopes.ts", "client/version.ts"];

/** The emulator stands for the service, so it does not know the client. */
const emulatorKnows = ["emulator/", "page/", "command/", "files/", "core/token/known-tokens.ts", ...foundation];

/** The explorer runs programs against the emulator. */
const explorerKnows = ["explore/", ...emulatorKnows];

/** The doctor sends requests by itself: the client would hide what it looks at. */
const doctorKnows = [
  "doctor/",
  "command/",
  "service/schemas/",
  "core/call/standard-schema.ts",
  ...foundation,
  "core/token/token-format.ts",
  "core/wire/path.ts",
  "core/wire/head.ts",
  "core/call/outcome.ts",
  "core/call/decide-retry.ts",
  "emulator/conventions.ts",
  "emulator/resolve-conventions.ts",
];

/** Tools for agents know the client as its users do. */
const mcpKnows = [
  "mcp/",
  "command/",
  "client/client.ts",
  "core/call/internals.ts",
  "core/call/outcome.ts",
  "core/call/decide-retry.ts",
  ...foundation,
];

/** The files that may import a package. All others do without any. */
const packages = {
  ky: ["core/call/http.ts"],
  "p-retry": ["core/call/retry.ts"],
  zod: ["service/schemas/", "core/call/zod-schema.ts", "core/paging/page.ts", "mcp/"],
  "@modelcontextprotocol/server": ["mcp/"],
  msw: ["testing/msw.ts"],
  "@opentelemetry/api": ["opentelemetry/"],
  tinyexec: ["command/start-program.ts"],
};

/** The files that may import from Node. */
const nodeOnly = [
  "bulk/node.ts",
  "bulk/node/",
  "testing/node.ts",
  "emulator/node/",
  "explore/",
  "doctor/node/",
  "mcp/node/",
  "command/",
  "files/",
  "commands.ts",
  "bin.ts",
];

/** The doors: code from outside is met here, and what it throws goes no further. */
const doors = [
  "core/checks/validators.ts",
  "client/client-settings.ts",
  "client/environment.ts",
  "core/instrumentation.ts",
  // What a platform, or the application's `fetch`, gives in place of a response or an error.
  "core/call/api-promise.ts",
  "core/call/attempt.ts",
  "core/call/exchange.ts",
  "core/rate-limit/rate-limiter.ts",
  "core/wire/body.ts",
  "core/call/write-evidence.ts",
  "core/token/rotating-token.ts",
  "core/errors/caller-stack.ts",
  "core/errors/explanation.ts",
  "core/errors/connection-fault.ts",
  "core/secrets/redact.ts",
  "mcp/diagnostics.ts",
  "emulator/checks.ts",
  "emulator/service.ts",
];

const listed = [
  layers.flatMap(({ files }) => files),
  entries,
  resourcesKnow,
  redisKnows,
  bulkKnows,
  explorerKnows,
  doctorKnows,
  mcpKnows,
  Object.values(packages),
  nodeOnly,
  doors,
];
const missing = listed.flat(2).filter((file) => !existsSync(`src/${file}`));
if (missing.length > 0) throw new Error(`config/layers.cjs names what src/ has not: ${missing.join(", ")}`);

const src = (files) => files.map((file) => `^src/${file.replaceAll(".", "\\.")}${file.endsWith("/") ? "" : "$"}`);
const layer = (level) => ({
  path: src(layers[level].files),
  pathNot: src(layers.slice(0, level).flatMap(({ files }) => files)),
});
const rule = (name, from, to) => ({ name, severity: "error", from, to });

module.exports = {
  forbidden: [
    rule("no-cycles", {}, { circular: true }),
    rule("no-dead-files", { path: src(entries) }, { path: "^src/", pathNot: src(entries), reachable: false }),
    rule("every-file-has-a-layer", {}, { path: "^src/", pathNot: src(layers.flatMap(({ files }) => files)) }),
    ...layers.flatMap((lower, level) =>
      layers
        .slice(level + 1)
        .map((higher, above) =>
          rule(`${lower.name}-do-not-know-${higher.name}`, layer(level), layer(level + 1 + above)),
        ),
    ),
    ...Object.entries(parts).map(([name, files]) => {
      const others = Object.values(parts)
        .flat()
        .filter((file) => !files.includes(file));
      const level = layers.findIndex((one) => one.name === "parts");
      return rule(
        `${name}-knows-no-other-part`,
        { ...layer(level), path: src(files) },
        { ...layer(level), path: src(others) },
      );
    }),
    rule("resources-know-only-how-to-ask", { path: src(["service/"]) }, { path: "^src/", pathNot: src(resourcesKnow) }),
    rule("redis-knows-only-the-rate-limiter", { path: src(["redis/"]) }, { path: "^src/", pathNot: src(redisKnows) }),
    rule("bulk-knows-only-the-foundation", { path: src(["bulk/"]) }, { path: "^src/", pathNot: src(bulkKnows) }),
    rule("what-is-public-comes-from-the-index", { path: src(withClient) }, { path: src(behindIndex) }),
    rule(
      "bulk-runs-without-node",
      { path: src(["bulk/"]), pathNot: src(["bulk/node.ts", "bulk/node/"]) },
      { path: src(["bulk/node.ts", "bulk/node/", "files/"]) },
    ),
    rule(
      "the-emulator-knows-no-client",
      { path: src(["emulator/", "page/", "testing/"]), pathNot: src(["testing/node.ts"]) },
      { path: "^src/", pathNot: src(emulatorKnows) },
    ),
    rule(
      "the-explorer-knows-the-emulator-alone",
      { path: src(["explore/", "testing/node.ts"]) },
      { path: "^src/", pathNot: src(explorerKnows) },
    ),
    rule("the-doctor-knows-no-client", { path: src(["doctor/"]) }, { path: "^src/", pathNot: src(doctorKnows) }),
    rule("mcp-knows-only-the-client", { path: src(["mcp/"]) }, { path: "^src/", pathNot: src(mcpKnows) }),
    rule("node-only-in-its-entry-points", { path: "^src/", pathNot: src(nodeOnly) }, { dependencyTypes: ["core"] }),
    ...Object.entries(packages).map(([name, files]) =>
      rule(`${name}-only-where-it-belongs`, { path: "^src/", pathNot: src(files) }, { path: `^node_modules/${name}/` }),
    ),
    rule(
      "no-other-packages",
      { path: "^src/" },
      { path: "^node_modules/", pathNot: Object.keys(packages).map((name) => `^node_modules/${name}/`) },
    ),
    // Classic zod probes for eval as soon as a schema is made. A server of tools runs in no page, and needs JSON Schema.
    rule(
      "zod-is-zod-mini",
      { path: "^src/", pathNot: "^src/mcp/" },
      { path: "^node_modules/zod/", pathNot: "^node_modules/zod/v4-mini/" },
    ),
    rule(
      "errors-are-ignored-at-doors-alone",
      { path: "^src/", pathNot: src(doors) },
      { path: src(["core/checks/ignore-errors.ts"]) },
    ),
    rule("no-unresolved", {}, { couldNotResolve: true }),
    // A name says what is inside.
    rule("no-vague-names", {}, { path: "/(utils|util|helpers|helper|common|misc|types)(/|[.]ts$)" }),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "default"] },
  },
};
