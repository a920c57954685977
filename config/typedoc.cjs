/** The API reference: of every entry point, and failing on whatever lacks its words. */
const { ENTRY_POINTS } = require("./entry-points.ts");

const repository = "https://github.com/project-automation/project-automation-js";

/** What zod makes of these is documented at the models. */
const tokenFields = ["id", "name", "key_id", "scopes", "expires_at"];
const schemaFields = {
  ProjectSchema: ["id", "name"],
  IssueSchema: ["number", "title", "status", "type"],
  SessionSchema: ["id", "state"],
  TokenSchema: tokenFields,
  CreatedTokenSchema: [...tokenFields, "plaintext"],
  pageOf: ["data", "next_cursor"],
};

/** Discriminants, and members that another standard or the type around them explains. */
const intentionallyNotDocumented = [
  "client.DriftEvent.type",
  "client.EndEvent.type",
  "client.PageEvent.type",
  "client.PollEvent.type",
  "client.QueueWaitEvent.type",
  "client.RateLimitPauseEvent.type",
  "client.RateLimitResumeEvent.type",
  "client.RequestEvent.type",
  "client.ResponseEvent.type",
  "client.RetryEvent.type",
  "client.TokenRefreshEvent.type",
  "client.DriftEvent.issues.__type.path",
  "client.DriftEvent.issues.__type.message",
  "client.Admission.__type.kind",
  "client.Admission.__type.pauseMs",
  "client.AnyAutomationError.__type.kind",
  "client.StandardIssue.message",
  "client.StandardIssue.path",
  "client.StandardIssue.path.__type.key",
  "client.StandardResult.__type.value",
  "client.StandardResult.__type.issues",
  "client.StandardSchema.~standard",
  "client.StandardSchema.~standard.__type.version",
  "client.StandardSchema.~standard.__type.vendor",
  "client.StandardSchema.~standard.__type.validate",
  "client.StandardSchema.~standard.__type.types",
  "client.StandardSchema.~standard.__type.types.__type.input",
  "client.StandardSchema.~standard.__type.types.__type.output",
  ...Object.entries(schemaFields).flatMap(([schema, fields]) =>
    fields.map((field) => `service/schemas.${schema}.__type.${field}`),
  ),
  "testing/node.Disposal.__type.asyncDispose",
  "redis.DegradedEvent.type",
  "redis.RejoinedEvent.type",
  "redis.IoredisClient.defineCommand",
  "redis.IoredisClient.eval",
  "redis.NodeRedisClient.isOpen",
  "redis.NodeRedisClient.eval",
];

/** Details that constructors of errors take, and what is marked "not for callers". */
const intentionallyNotExported = [
  "src/emulator/conventions.ts:REFUSALS",
  "src/emulator/endpoints.ts:ENDPOINTS",
  "src/emulator/exchange.ts:Ending",
  "src/emulator/resolve-conventions.ts:Filled",
  "src/emulator/tables.ts:Optional",
  "src/core/custom.ts:CheckedRequest",
  "src/core/custom.ts:CheckedList",
  "src/core/custom.ts:NotJson",
  "src/core/errors/automation-error.ts:DetailsOf",
];

/** @type {Partial<import("typedoc").TypeDocOptions>} */
module.exports = {
  name: "project-automation",
  entryPoints: ENTRY_POINTS.map(({ source }) => `../${source}`),
  tsconfig: "tsconfig.docs.json",
  readme: "none",
  plugin: ["./own-members.cjs"],
  excludePrivate: true,
  excludeInternal: true,
  excludeExternals: true,
  navigationLinks: { Guide: `${repository}#readme` },
  gitRevision: "main",
  sourceLinkTemplate: `${repository}/blob/{gitRevision}/{path}#L{line}`,
  validation: {
    notExported: true,
    invalidLink: true,
    rewrittenLink: true,
    notDocumented: true,
    unusedMergeModuleWith: true,
  },
  treatWarningsAsErrors: true,
  intentionallyNotDocumented,
  intentionallyNotExported,
};
