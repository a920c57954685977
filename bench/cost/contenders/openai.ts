import { OpenAI } from "openai";
import { type Calls, type Item, PROJECT, type Setting, visitEach } from "../calls.ts";

export async function connect({ origin, token, fetch }: Setting): Promise<Calls> {
  const client = new OpenAI({ baseURL: `${origin}/api/v1`, apiKey: token, fetch });
  return {
    getSession: async (id, signal) => client.get(`/sessions/${id}`, { signal }),
    createIssue: async (title) => client.post(`/projects/${PROJECT}/issues`, { body: { title, type: "bug" } }),
    // the server's items, whatever the type says
    walk: (limit, visit) =>
      visitEach(client.files.list({ limit }) as AsyncIterable<unknown> as AsyncIterable<Item>, visit),
  };
}
