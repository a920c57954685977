import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Client, ClientOptions } from "../../../dist/index.js";
import { type Calls, PROJECT, type Setting, visitEach, visitPage } from "../calls.ts";

/** Everything on: rate limiter, retries, time budgets, strict validation. */
export async function connect(setting: Setting): Promise<Calls> {
  const client = await clientOf(setting);
  return { ...callsOf(client), walk: (limit, visit) => visitEach(client.projects.list({ limit }), visit) };
}

/** As above, and somebody listens. */
export async function connectListened(setting: Setting): Promise<Calls> {
  const heard = { events: 0 };
  const client = await clientOf(setting, {
    onEvent: () => {
      heard.events += 1;
    },
  });
  return { ...callsOf(client), walk: (limit, visit) => visitEach(client.projects.list({ limit }), visit) };
}

/** As the first, and the next page is asked for while one is consumed. */
export async function connectPrefetching(setting: Setting): Promise<Calls> {
  const client = await clientOf(setting);
  return {
    ...callsOf(client),
    walk: (limit, visit) => visitEach(client.projects.list({ limit }, { prefetch: true }), visit),
  };
}

/** As the first, page by page. */
export async function connectPaged(setting: Setting): Promise<Calls> {
  const client = await clientOf(setting);
  return {
    ...callsOf(client),
    walk: async (limit, visit) => {
      for await (const { data } of client.projects.list({ limit }).pages()) await visitPage(data, visit);
    },
  };
}

async function clientOf(setting: Setting, options: ClientOptions = {}): Promise<Client> {
  const { origin, token, fetch, concurrency } = setting;
  const door = pathToFileURL(join(setting.package, "dist/index.js")).href;
  const { Client } = (await import(door)) as typeof import("../../../dist/index.js"); // another checkout's has that shape
  return new Client({ baseUrl: `${origin}/api/v1`, token, fetch, maxConcurrency: concurrency, ...options });
}

function callsOf(client: Client): Omit<Calls, "walk"> {
  return {
    // Without a signal there are no options, as one would write it.
    getSession: (id, signal) => (signal === undefined ? client.sessions.get(id) : client.sessions.get(id, { signal })),
    createIssue: (title) => client.issues.create(PROJECT, { title, type: "bug" }),
  };
}
