// Every error class is made, and each call fails in its way: a compiler of classes changes nothing about that.
import * as library from "project-automation";
import { bulkWrite, memoryJournal } from "project-automation/bulk";
import { createEmulator } from "project-automation/testing";

const { Client, isAutomationError, NotFoundError, path } = library;
const classes = Object.entries(library).filter(([name]) => /^[A-Z]\w*Error$/.test(name));
const tell = (what, error) => {
  const of = classes.filter(([, Class]) => error instanceof Class).map(([name]) => name);
  const { name, kind, outcome, status, message } = error;
  const isOurs = isAutomationError(error) && error instanceof Error;
  console.log(JSON.stringify({ what, name, kind, outcome, status, isOurs, of, message, text: String(error) }));
};

for (const [name, Class] of classes) tell(`new ${name}`, new Class("said", { outcome: "rejected", status: 418 }));

class Missing extends NotFoundError {
  constructor(what) {
    super(`${what} is missing`);
    this.what = what;
  }
}
const missing = new Missing("web");
tell("a subclass of the application", missing);
console.log(missing instanceof Missing, new NotFoundError("other") instanceof Missing, missing.what);

const emulator = createEmulator();
// Each call has a client of its own: a 429 pauses the token for the others.
const clientOf = (options) =>
  new Client({ ...emulator.clientOptions, retry: { attempts: 1, rateLimitWaits: 0 }, ...options });
const client = clientOf();
const issue = { title: "One", type: "bug" };
const create = () => clientOf().issues.create("web", issue);
const fault = (one) => () => {
  emulator.fault({ times: 1, ...one });
  return create();
};
const calls = {
  config: async () => new Client({ baseUrl: "nowhere", token: "t" }),
  argument: () => client.issues.create("..", issue),
  path: async () => path`/x/${"a/../b"}`,
  not_found: () => client.sessions.get("gone"),
  auth: () => clientOf({ token: "emu_a_b" }).projects.list().page(),
  permission: fault({ status: 403 }),
  bad_request: fault({ status: 422 }),
  conflict: fault({ status: 409 }),
  api: fault({ status: 418 }),
  rate_limit: fault({ status: 429, headers: { "retry-after": "1" } }),
  server: fault({ status: 500 }),
  redirect: fault({ status: 302, headers: { location: "https://login.example/" } }),
  lost: fault({ drop: "after" }),
  page: fault({ status: 200, body: "<html>" }),
  shape: fault({ transform: () => ({}) }),
  timeout: () => {
    emulator.fault({ delayMs: 60_000 });
    return clientOf({ timeoutMs: 1_000 }).issues.create("web", issue);
  },
  abort: () => client.issues.create("web", issue, { signal: AbortSignal.abort() }),
  token_provider: () =>
    clientOf({
      token: () => {
        throw new TypeError("the vault is sealed");
      },
    })
      .projects.list()
      .toArray(),
};
async function main() {
  for (const [what, call] of Object.entries(calls)) {
    try {
      await call();
      console.log(what, "did not fail");
    } catch (error) {
      tell(what, error);
    }
  }

  emulator.fault({ operation: "issues.create", drop: "after" });
  const run = bulkWrite({
    client,
    items: ["a", "b", "c"],
    key: (item) => item,
    send: (bound, title) => bound.issues.create("web", { title, type: "bug" }),
    journal: memoryJournal(),
    concurrency: 1,
  });
  try {
    for await (const { key, state, error } of run) {
      console.log(key, state);
      if (error !== undefined) tell("the error of an item", error);
    }
  } catch (error) {
    tell("the error of the run", error);
  }
  console.log((await client.projects.list().toArray()).map(({ name }) => name).join());
}
main();
