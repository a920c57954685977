/** The API reference: of every entry point, and failing on whatever lacks its words. */
const { exports: doors } = require("../package.json");
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
  "index.AnyAutomationError.__type.kind",
  "index.RotatingToken.latest.__type.id",
  "index.RotatingToken.latest.__type.token",
  "index.RotatingToken.latest.__type.expiresAt",
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
  "testing.ExtraFields.project",
  "testing.ExtraFields.issue",
  "testing.ExtraFields.session",
  "testing.ExtraFields.token",
  "testing.ExtraFields.page",
  "testing.ExtraFields.error",
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
  "src/testing/exchange.ts:Ending",
  "src/auth/token-source.ts:TokenSource",
  "src/auth/token-source.ts:Rotate",
  "src/errors/client-errors.ts:ConnectionErrorDetails",
  "src/errors/api-errors.ts:RateLimitErrorDetails",
  "src/errors/client-errors.ts:ResponseValidationErrorDetails",
  "src/errors/client-errors.ts:TimeoutErrorDetails",
];

/** @type {Partial<import("typedoc").TypeDocOptions>} */
module.exports = {
  name: "project-automation",
  entryPoints: Object.keys(doors)
    .filter((door) => door !== "./package.json")
    .map((door) => `../${sourceOf(door)}`),
  tsconfig: "tsconfig.docs.json",
  out: "../docs/api",
  readme: "none",
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
