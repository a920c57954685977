export { CreatedTokenSchema, IssueSchema, ProjectSchema, pageOf, SessionSchema, TokenSchema } from "./records.ts";
