/** Where the projects come from: a server, or an emulator of it in this very page. */
import { Client, type EventListener } from "project-automation";
import { createEmulator, type Emulator } from "project-automation/testing";

/** What the form says. */
export interface Settings {
  readonly source: "emulator" | "server";
  readonly baseUrl: string;
  readonly token: string;
}

/** A client for the settings; throws `ConfigError` for those that cannot be. */
export function clientFor({ source, baseUrl, token }: Settings, onEvent: EventListener): Client {
  if (source === "server") return new Client({ baseUrl, token, onEvent });
  emulator ??= makeEmulator();
  return new Client({ baseUrl: emulator.baseUrl, token: emulator.token, fetch: emulator.fetch, onEvent });
}

let emulator: Emulator | undefined;

function makeEmulator(): Emulator {
  const kinds = ["web", "api", "docs", "billing", "search", "mobile", "identity", "reports"];
  const teams = ["atlas", "birch", "cobalt", "delta", "ember", "fjord", "garnet", "harbour", "indigo", "juniper"];
  const projects = teams.flatMap((team) => kinds.map((kind) => ({ name: `${team}/${kind}` })));
  const made = createEmulator({ projects, sessionsPerProject: 0, rateLimit: { limit: 5, windowMs: 6_000 } });
  made.fault({ times: Number.POSITIVE_INFINITY, delayMs: 300 }); // as slow as a network
  return made;
}
