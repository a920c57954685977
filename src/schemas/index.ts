export { pageOf } from "./page.ts";
export { CreatedTokenSchema, IssueSchema, ProjectSchema, SessionSchema, TokenSchema } from "./records.ts";
export type { StandardIssue, StandardResult, StandardSchema } from "./standard-schema.ts";
export type { SafeParseResult, Validator } from "./validator.ts";
