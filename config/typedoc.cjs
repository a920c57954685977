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
  "events.DeprecationEvent.type",
  "events.DriftEvent.type",
  "events.EndEvent.type",
  "events.PageEvent.type",
  "events.PollEvent.type",
  "events.RateLimitPauseEvent.type",
  "events.RateLimitResumeEvent.type",
  "events.RequestEvent.type",
  "events.ResponseEvent.type",
  "events.RetryEvent.type",
  "events.TokenRefreshEvent.type",
  "events.DriftEvent.issues.__type.path",
  "events.DriftEvent.issues.__type.message",
  "rate-limits.Admission.__type.kind",
  "rate-limits.Admission.__type.pauseMs",
  "errors.AnyAutomationError.__type.kind",
  "requests.StandardIssue.message",
  "requests.StandardIssue.path",
  "requests.StandardIssue.path.__type.key",
  "requests.StandardResult.__type.value",
  "requests.StandardResult.__type.issues",
  "requests.StandardSchema.~standard",
  "requests.StandardSchema.~standard.__type.version",
  "requests.StandardSchema.~standard.__type.vendor",
  "requests.StandardSchema.~standard.__type.validate",
  "requests.StandardSchema.~standard.__type.types",
  "requests.StandardSchema.~standard.__type.types.__type.input",
  "requests.StandardSchema.~standard.__type.types.__type.output",
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
  "src/core/custom.ts:CheckedRequest",
  "src/core/custom.ts:CheckedList",
  "src/core/custom.ts:NotJson",
  "src/core/errors/automation-error.ts:DetailsOf",
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
  plugin: ["typedoc-plugin-markdown", "./own-members.cjs", "./api-pages.cjs"],
  entryFileName: "README",
  hidePageHeader: true,
  hideBreadcrumbs: true,
  hideGroupHeadings: true,
  groupOrder: ["Functions", "Classes", "Constructors", "Properties", "Accessors", "Methods", "*"],
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
