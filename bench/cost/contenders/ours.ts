import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ClientOptions } from "../../../dist/index.js";
import { type Calls, PROJECT, type Setting } from "../calls.ts";

/** Everything on: rate limiter, retries, time budgets, strict validation. */
export async function connect(setting: Setting, options: ClientOptions = {}): Promise<Calls> {
  const { origin, token, fetch, concurrency } = setting;
  const door = pathToFileURL(join(setting.package, "dist/index.js")).href;
  const { Client } = (await import(door)) as typeof import("../../../dist/index.js"); // another checkout's has that shape
  const client = new Client({ baseUrl: `${origin}/api/v1`, token, fetch, maxConcurrency: concurrency, ...options });
  return {
    getSession: (id) => client.sessions.get(id),
    createIssue: (title) => client.issues.create(PROJECT, { title, type: "bug" }) as ReturnType<Calls["createIssue"]>,
    walk: (limit) => client.projects.list({ limit }),
  };
}

/** As above, and somebody listens. */
export function connectListened(setting: Setting): Promise<Calls> {
  const heard = { events: 0 };
  return connect(setting, {
    onEvent: () => {
      heard.events += 1;
    },
  });
}
