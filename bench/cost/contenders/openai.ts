import { OpenAI } from "openai";
import { type Calls, type Item, PROJECT, type Setting } from "../calls.ts";

export async function connect({ origin, token, fetch }: Setting): Promise<Calls> {
  const client = new OpenAI({ baseURL: `${origin}/api/v1`, apiKey: token, fetch });
  return {
    getSession: async (id) => client.get(`/sessions/${id}`),
    createIssue: async (title) => client.post(`/projects/${PROJECT}/issues`, { body: { title, type: "bug" } }),
    walk: (limit) => client.files.list({ limit }) as AsyncIterable<unknown> as AsyncIterable<Item>, // the server's items, whatever the type says
  };
}
