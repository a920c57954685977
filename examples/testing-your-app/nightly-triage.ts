/**
 * An application: each night it looks at the agent sessions of every project, and files one issue in each project where
 * some have failed. A failure in one project does not stop the others; the report says how each one ended.
 *
 * Where issues can be listed, you can start it again in the same night: it looks before it files. Elsewhere a second start
 * files a second issue, so go on with `cursor` and file by hand what is missing.
 */
import { type Client, isAutomationError, type Project, path } from "project-automation";
import { IssueSchema } from "project-automation/schemas";

/** The result for one project. */
export type Triaged =
  | { readonly project: string; readonly result: "fine" }
  | { readonly project: string; readonly result: "filed"; readonly issue: number }
  /** There may be an issue now, or not: a person has to look before it is filed again. */
  | { readonly project: string; readonly result: "unsure"; readonly reason: string }
  /** There is no issue. */
  | { readonly project: string; readonly result: "failed"; readonly reason: string };

export interface TriageReport {
  /** In the order of the walk. */
  readonly projects: readonly Triaged[];
  /** Where the walk over the projects broke off, if it did: another run goes on from there. */
  readonly brokeOffAt: { readonly cursor: string | undefined; readonly reason: string } | undefined;
}

export interface TriageOptions {
  /** How many projects are worked on at once. */
  readonly concurrency?: number;
  /** Where an earlier run broke off. */
  readonly cursor?: string | undefined;
  /**
   * Whether the service lists issues, which the API documentation does not show. Then the program looks before it files an
   * issue, and after a response was lost.
   */
  readonly canListIssues?: boolean;
}

export async function triage(client: Client, options: TriageOptions = {}): Promise<TriageReport> {
  const { concurrency = 4, cursor, canListIssues = false } = options;
  const walk = client.projects.list({ cursor })[Symbol.asyncIterator]();
  const projects: Triaged[] = [];
  let brokeOffAt: TriageReport["brokeOffAt"];

  // The workers share one walk: each takes the next project when it is done with the last.
  let taken = 0;
  async function work(): Promise<void> {
    for (;;) {
      const project = await next();
      if (project === undefined) return;
      const place = taken++;
      projects[place] = await triageProject(client, project, canListIssues);
    }
  }
  async function next(): Promise<Project | undefined> {
    try {
      const step = await walk.next();
      return step.done === true ? undefined : step.value;
    } catch (error) {
      if (!isAutomationError(error)) throw error;
      brokeOffAt = { cursor: error.cursor ?? undefined, reason: error.message };
      return undefined;
    }
  }

  await Promise.all(Array.from({ length: concurrency }, work));
  return { projects, brokeOffAt };
}

async function triageProject(client: Client, project: Project, canListIssues: boolean): Promise<Triaged> {
  const { name } = project;
  let title: string;
  try {
    const sessions = await client.sessions.list(project).toArray();
    const failed = sessions.filter(({ state }) => state === "failed");
    if (failed.length === 0) return { project: name, result: "fine" };
    title = `Failed agent sessions: ${failed.map((session) => session.id).join(", ")}`;
    const earlier = canListIssues ? await findIssue(client, project, title) : undefined;
    if (earlier !== undefined) return { project: name, result: "filed", issue: earlier };
  } catch (error) {
    if (!isAutomationError(error)) throw error;
    return { project: name, result: "failed", reason: error.message };
  }
  try {
    const issue = await client.issues.create(project, { title, type: "bug" });
    return { project: name, result: "filed", issue: issue.number };
  } catch (error) {
    if (!isAutomationError(error)) throw error;
    // The client repeats a write only where it cannot have been applied. Whether it was is in the error.
    const isSure = error.outcome === "rejected" || error.outcome === "not_sent";
    const found = isSure || !canListIssues ? undefined : await findIssue(client, project, title);
    if (found !== undefined) return { project: name, result: "filed", issue: found };
    return { project: name, result: isSure || canListIssues ? "failed" : "unsure", reason: error.message };
  }
}

/** The number of the issue with this title, if there is one. */
async function findIssue(client: Client, project: Project, title: string): Promise<number | undefined> {
  const issues = client.paginate({ path: path`/projects/${project.id}/issues`, schema: IssueSchema });
  for await (const issue of issues) if (issue.title === title) return issue.number;
  return undefined;
}
