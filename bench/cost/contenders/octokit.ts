import { retry } from "@octokit/plugin-retry";
import { Octokit } from "@octokit/rest";
import { type Calls, type Issue, type Item, PROJECT, type Session, type Setting, visitPage } from "../calls.ts";

export async function connect(setting: Setting): Promise<Calls> {
  return connectWith(Octokit, setting);
}

/** Without the throttling plugin, which begins one write a second whatever the service says. */
export async function connectRetrying(setting: Setting): Promise<Calls> {
  return connectWith(Octokit.plugin(retry), setting);
}

function connectWith(Kind: typeof Octokit, { origin, token, fetch }: Setting): Calls {
  const octokit = new Kind({ baseUrl: `${origin}/api/v1`, auth: token, request: { fetch } });
  return {
    getSession: async (id) => (await octokit.request("GET /sessions/{id}", { id })).data as Session,
    createIssue: async (title) =>
      (await octokit.request("POST /projects/{project}/issues", { project: PROJECT, title, type: "bug" }))
        .data as Issue,
    walk: async (limit, visit) => {
      const pages = octokit.paginate.iterator("GET /orgs/{org}/repos", { org: PROJECT, per_page: limit });
      // the server's items, whatever the type says
      for await (const { data } of pages) await visitPage(data as unknown as Item[], visit);
    },
  };
}
