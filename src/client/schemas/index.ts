export { pageOf } from "../paging/page-schema.ts";
export { CreatedTokenSchema, IssueSchema, ProjectSchema, SessionSchema, TokenSchema } from "./records.ts";
