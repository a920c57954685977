/** A program that builds on the schemas with its own zod. */
import { type Client, type CreatedToken, type Issue, type Page, type Project, path } from "project-automation";
import {
  CreatedTokenSchema,
  IssueSchema,
  ProjectSchema,
  pageOf,
  SessionSchema,
  TokenSchema,
} from "project-automation/schemas";
import * as z from "zod/v4-mini";

export const Team = z.extend(ProjectSchema, { team: z.string() });
export type Team = z.infer<typeof Team>;
export const Overview = z.object({ project: Team, issues: z.array(IssueSchema), session: z.optional(SessionSchema) });
export const written: object = z.toJSONSchema(TokenSchema);

export async function use(client: Client): Promise<unknown> {
  const where = path`/projects/${"web"}`;
  const project: Project = await client.request({ method: "GET", path: where, schema: ProjectSchema });
  const issues: Page<Issue> = await client.request({ method: "GET", path: where, schema: pageOf(IssueSchema) });
  const token: CreatedToken = CreatedTokenSchema.parse({});
  const teams: Team[] = await client.paginate({ path: where, schema: Team }).toArray();
  const name: string | undefined = teams[0]?.team;
  const overview = Overview.parse({});
  const number: number | undefined = overview.issues[0]?.number;
  // @ts-expect-error it is a number
  const text: string | undefined = overview.issues[0]?.number;
  return [project, issues, token, name, number, text];
}
