export { pageOf } from "../paging/page.ts";
export { CreatedTokenSchema, IssueSchema, ProjectSchema, SessionSchema, TokenSchema } from "./records.ts";
