import { retry } from "@octokit/plugin-retry";
import { Octokit } from "@octokit/rest";
import { type Calls, type Issue, type Item, PROJECT, type Session, type Setting } from "../calls.ts";

/** Without its throttling plugin, which begins one write a second whatever the service says. */
export async function connect({ origin, token, fetch }: Setting): Promise<Calls> {
  const octokit = new (Octokit.plugin(retry))({ baseUrl: `${origin}/api/v1`, auth: token, request: { fetch } });
  return {
    getSession: async (id) => (await octokit.request("GET /sessions/{id}", { id })).data as Session,
    createIssue: async (title) =>
      (await octokit.request("POST /projects/{project}/issues", { project: PROJECT, title, type: "bug" }))
        .data as Issue,
    async *walk(limit) {
      const pages = octokit.paginate.iterator("GET /orgs/{org}/repos", { org: PROJECT, per_page: limit });
      for await (const { data } of pages) yield* data as unknown as Item[]; // the server's items, whatever the type says
    },
  };
}
