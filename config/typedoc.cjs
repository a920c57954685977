/** The API reference: of every entry point, and failing on whatever lacks its words. */
const { exports: entryPoints } = require("../package.json");
const { sourceOf } = require("../scripts/documented-code.mjs");

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
  "index.DeprecationEvent.type",
  "index.DriftEvent.type",
  "index.EndEvent.type",
  "index.PageEvent.type",
  "index.RateLimitPauseEvent.type",
  "index.RateLimitResumeEvent.type",
  "index.RequestEvent.type",
  "index.ResponseEvent.type",
  "index.RetryEvent.type",
  "index.TokenRefreshEvent.type",
  "index.DriftEvent.issues.__type.path",
  "index.DriftEvent.issues.__type.message",
  "index.Admission.__type.kind",
  "index.Admission.__type.pauseMs",
  "index.Admission.__type.waited",
  "index.AnyAutomationError.__type.kind",
  "index.StandardIssue.message",
  "index.StandardIssue.path",
  "index.StandardIssue.path.__type.key",
  "index.StandardResult.__type.value",
  "index.StandardResult.__type.issues",
  "index.StandardSchema.~standard",
  "index.StandardSchema.~standard.__type.version",
  "index.StandardSchema.~standard.__type.vendor",
  "index.StandardSchema.~standard.__type.validate",
  "index.StandardSchema.~standard.__type.types",
  "index.StandardSchema.~standard.__type.types.__type.input",
  "index.StandardSchema.~standard.__type.types.__type.output",
  ...Object.entries(schemaFields).flatMap(([schema, fields]) =>
    fields.map((field) => `schemas.${schema}.__type.${field}`),
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
  "src/testing/conventions.ts:REFUSALS",
  "src/testing/endpoints.ts:ENDPOINTS",
  "src/testing/exchange.ts:Ending",
  "src/testing/resolve-conventions.ts:Filled",
  "src/testing/tables.ts:Optional",
  "src/client/resources/custom.ts:CheckedRequest",
  "src/client/errors/automation-error.ts:DetailsOf",
];

/** @type {Partial<import("typedoc").TypeDocOptions>} */
module.exports = {
  name: "project-automation",
  entryPoints: Object.keys(entryPoints)
    .filter((entryPoint) => entryPoint !== "./package.json")
    .map((entryPoint) => `../${sourceOf(entryPoint)}`),
  tsconfig: "tsconfig.docs.json",
  readme: "none",
  // As Markdown, by scripts/api-reference.mjs.
  plugin: ["typedoc-plugin-markdown", "./own-members.cjs"],
  entryFileName: "README",
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  expandObjects: true,
  parametersFormat: "table",
  classPropertiesFormat: "table",
  interfacePropertiesFormat: "table",
  propertyMembersFormat: "table",
  enumMembersFormat: "table",
  typeDeclarationFormat: "table",
  tableColumnSettings: { hideSources: true, hideInherited: true, hideOverrides: true },
  sanitizeComments: true,
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
