export { pageOf } from "../../core/paging/page-schema.ts";
export { CreatedTokenSchema, IssueSchema, ProjectSchema, SessionSchema, TokenSchema } from "./records.ts";
