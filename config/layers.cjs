/**
 * The layers of the code: what may import what. `npm run lint` checks it, type imports included.
 *
 * A file imports from its own layer and from those below, never upwards. Every file under src/ belongs to one layer; a
 * new file that matches none is an error, so that its place is decided here first. `a/` is a whole folder; a file that
 * matches two layers, as a port in the folder of its part does, belongs to the lower one.
 */
const { existsSync } = require("node:fs");

/** Layer 2: one concern each, and none knows another. */
const parts = {
  auth: ["auth/"],
  logging: ["logging.ts"],
  paging: ["paging/"],
  "rate-limit": ["rate-limit/"],
  request: [
    "request/call.ts",
    "request/create-error.ts",
    "request/output.ts",
    "request/call-events.ts",
    "request/response.ts",
  ],
};

const layers = [
  // 0: knows nothing but itself.
  {
    name: "foundation",
    files: ["base/", "errors/", "schemas/", "models.ts", "scopes.ts", "version.ts"],
  },
  // 1: what the parts agree on: interfaces, and operations as data.
  {
    name: "ports",
    files: [
      "events.ts",
      "instrumentation.ts",
      "auth/token-source.ts",
      "rate-limit/rate-limiter.ts",
      "request/http-request.ts",
      "request/operation.ts",
      "request/url.ts",
      "request/settings.ts",
    ],
  },
  // 2
  { name: "parts", files: Object.values(parts).flat() },
  // 3: one call, top to bottom.
  {
    name: "request-path",
    files: [
      "request/send.ts",
      "request/retry.ts",
      "request/attempt.ts",
      "request/perform-exchange.ts",
      "request/http.ts",
    ],
  },
  // 4: the service's resources: an operation in, `send` out.
  { name: "resources", files: ["resources/"] },
  // 5: the composition root, the only place that knows all parts.
  { name: "root", files: ["client.ts", "options.ts"] },
  // 6: what package.json exports.
  {
    name: "entry-points",
    files: ["index.ts", "bulk/", "opentelemetry/", "redis/", "testing/", "doctor/", "mcp/", "bin.ts", "bin/"],
  },
];

/** Where a file is reached from: what package.json publishes. What none of them reaches is dead. */
const { exports: published, bin } = require("../package.json");
const entries = [
  ...Object.values(published).flatMap((target) => target.import?.default ?? []),
  ...Object.values(bin),
].map((file) => file.replace(/^(?:\.\/)?dist\/(.+)\.js$/, "$1.ts").replace(/needs-[^/]+$/, "index.ts"));

/** A resource knows how to say what it wants, and nothing of how that is done. */
const resourcesKnow = [
  "resources/",
  "paging/",
  "schemas/",
  "errors/",
  "models.ts",
  "scopes.ts",
  "base/",
  "request/operation.ts",
  "request/url.ts",
  "request/settings.ts",
];

/** What a fleet shares is the rate limiter alone. */
const redisKnows = ["redis/", "rate-limit/", "errors/", "base/"];

/** Bulk writes know the client only by what its users see: errors and call options. */
const bulkKnows = ["bulk/", "base/", "errors/"];

/** The emulator stands for the service, so it does not know the client. */
const emulatorKnows = ["testing/", "bin/command.ts", "bin/flags.ts", "scopes.ts", "version.ts", "models.ts", "base/"];

/** The doctor sends requests by itself: the client would hide what it looks at. */
const doctorKnows = [
  "doctor/",
  "bin/command.ts",
  "bin/flags.ts",
  "schemas/",
  "models.ts",
  "scopes.ts",
  "base/",
  "version.ts",
  "auth/token-format.ts",
  "request/url.ts",
  "request/response.ts",
  "testing/conventions.ts",
  "testing/resolve-conventions.ts",
];

/** Tools for agents know the client by what its users see, and the journal of bulk writes. */
const mcpKnows = [
  "mcp/",
  "bin/command.ts",
  "bulk/",
  "base/",
  "errors/",
  "client.ts",
  "models.ts",
  "scopes.ts",
  "version.ts",
];

/** The files that may import a package. All others do without any. */
const packages = {
  ky: ["request/http.ts"],
  "p-retry": ["request/retry.ts"],
  zod: ["schemas/", "mcp/"],
  "@modelcontextprotocol/server": ["mcp/"],
  msw: ["testing/msw.ts"],
  "@opentelemetry/api": ["opentelemetry/"],
};

/** The files that may import from Node. */
const nodeOnly = [
  "bulk/node.ts",
  "bulk/node/",
  "testing/node.ts",
  "testing/node/",
  "doctor/node/",
  "mcp/node/",
  "bin.ts",
  "bin/",
];

const listed = [
  layers.flatMap(({ files }) => files),
  entries,
  resourcesKnow,
  redisKnows,
  bulkKnows,
  emulatorKnows,
  doctorKnows,
  mcpKnows,
  Object.values(packages),
  nodeOnly,
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
      return rule(`${name}-knows-no-other-part`, { ...layer(2), path: src(files) }, { ...layer(2), path: src(others) });
    }),
    rule(
      "resources-know-only-how-to-ask",
      { path: src(["resources/"]) },
      { path: "^src/", pathNot: src(resourcesKnow) },
    ),
    rule("redis-knows-only-the-rate-limiter", { path: src(["redis/"]) }, { path: "^src/", pathNot: src(redisKnows) }),
    rule("bulk-knows-only-the-foundation", { path: src(["bulk/"]) }, { path: "^src/", pathNot: src(bulkKnows) }),
    rule(
      "bulk-runs-without-node",
      { path: src(["bulk/"]), pathNot: src(["bulk/node.ts", "bulk/node/"]) },
      { path: src(["bulk/node.ts", "bulk/node/"]) },
    ),
    rule("the-emulator-knows-no-client", { path: src(["testing/"]) }, { path: "^src/", pathNot: src(emulatorKnows) }),
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
