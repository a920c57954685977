import { Client, iteratePaginatedAPI } from "@notionhq/client";
import { type Calls, type Item, PROJECT, type Setting, visitEach } from "../calls.ts";

export async function connect({ origin, token, fetch }: Setting): Promise<Calls> {
  // It puts /v1/ before every path.
  const options: NonNullable<ConstructorParameters<typeof Client>[0]> = { auth: token, baseUrl: `${origin}/api` };
  // Its type of a body's stream leaves out what it does not use.
  if (fetch !== undefined) options.fetch = fetch as unknown as NonNullable<typeof options.fetch>;
  const client = new Client(options);
  return {
    getSession: (id) => client.request({ method: "get", path: `sessions/${id}` }),
    createIssue: (title) =>
      client.request({ method: "post", path: `projects/${PROJECT}/issues`, body: { title, type: "bug" } }),
    // the server's items, whatever the type says
    walk: (limit, visit) =>
      visitEach(
        iteratePaginatedAPI(client.users.list, { page_size: limit }) as AsyncIterable<unknown> as AsyncIterable<Item>,
        visit,
      ),
  };
}
