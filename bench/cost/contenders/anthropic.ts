import { Anthropic } from "@anthropic-ai/sdk";
import { type Calls, type Item, PROJECT, type Setting, visitEach } from "../calls.ts";

export async function connect({ origin, token, fetch }: Setting): Promise<Calls> {
  const client = new Anthropic({ baseURL: origin, authToken: token, apiKey: null, fetch });
  return {
    getSession: async (id, signal) => client.get(`/api/v1/sessions/${id}`, { signal }),
    createIssue: async (title) => client.post(`/api/v1/projects/${PROJECT}/issues`, { body: { title, type: "bug" } }),
    // the server's items, whatever the type says
    walk: (limit, visit) =>
      visitEach(client.models.list({ limit }) as AsyncIterable<unknown> as AsyncIterable<Item>, visit),
  };
}
