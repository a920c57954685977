/**
 * What the page in the browser does: the client, on the browser's own `fetch`, against an emulator in the page, with a
 * service worker between them. Bundled by `msw-worker.test.ts`, which calls `runInPage` and compares what it returns.
 */
import { setupWorker } from "msw/browser";
import {
  Client,
  type ClientEvent,
  type EventListener,
  isAutomationError,
  PermissionDeniedError,
} from "project-automation";
import { createEmulator, type Emulator, type EmulatorOptions } from "project-automation/testing";
import { emulatorHandlers } from "project-automation/testing/msw";

interface Setup {
  readonly client: Client;
  readonly emulator: Emulator;
}

const scenarios = {
  walk: async () => {
    const { client, emulator } = await setUp({ projects: 7 });
    const names: string[] = [];
    for await (const { name } of client.projects.list({ limit: 3 })) names.push(name);
    return { names, requests: emulator.requests.map(({ status }) => status), rateLimit: client.rateLimit?.limit };
  },

  write: async () => {
    const { client, emulator } = await setUp({ projects: [{ name: "team/ü b" }] });
    const { number } = await client.issues.create("team/ü b", { title: "Login page is blank ☂", type: "bug" });
    return { number, issues: emulator.issues.list("team/ü b"), url: emulator.requests[0]?.url };
  },

  refusal: async () => {
    const { client, emulator } = await setUp({});
    const { plaintext } = emulator.createToken({ scopes: ["projects:read"] });
    const weak = client.withOptions({ token: plaintext });
    return tell(weak.issues.create("project-1", { title: "No", type: "bug" }));
  },

  limit: async () => {
    // The emulator's clock moves only when the client says that the pause is over: to come back early is no use.
    const began = Date.now();
    const pauses: ClientEvent[] = [];
    const now = (): number => (pauses.length > 1 ? began + 1_000 : began);
    const { client, emulator } = await setUp({ rateLimit: { limit: 5, windowMs: 1_000 }, now }, (event) => {
      if (event.type === "rate_limit_pause" || event.type === "rate_limit_resume") pauses.push(event);
    });
    const created = await Promise.all(
      Array.from({ length: 8 }, (_, index) => client.issues.create("project-1", { title: `${index}`, type: "bug" })),
    );
    return {
      numbers: created.map(({ number }) => number).sort(),
      stored: emulator.issues.list("project-1").length,
      statuses: [...new Set(emulator.requests.map(({ status }) => status))],
      pauses: pauses.map(({ type }) => type),
      pausedMs: (pauses[1]?.at ?? 0) - (pauses[0]?.at ?? 0),
    };
  },

  drop: async () => {
    const { client, emulator } = await setUp({});
    emulator.fault({ operation: "issues.create", drop: "after" });
    const result = await tell(client.issues.create("project-1", { title: "Lost", type: "bug" }));
    return { ...result, requests: emulator.requests.length, stored: emulator.issues.list("project-1").length };
  },

  elsewhere: async () => {
    await setUp({});
    return { text: await (await fetch("/elsewhere")).text() };
  },

  forbidden: async () => {
    const error = await fetch("https://forbidden.invalid/").catch((reason: unknown) => reason);
    return { refused: error instanceof TypeError };
  },
} satisfies Record<string, () => Promise<object>>;

/** What can be run in the page. */
export type Scenario = keyof typeof scenarios;

/** A service worker, and a client that knows nothing of it: it has the platform's `fetch`. */
async function setUp(options: EmulatorOptions, onEvent?: EventListener): Promise<Setup> {
  const emulator = createEmulator({ projects: 3, ...options });
  await setupWorker(...emulatorHandlers(emulator)).start({ quiet: true, onUnhandledFrame: "bypass" });
  const { baseUrl, token } = emulator;
  return { emulator, client: new Client({ baseUrl, token, onEvent }) };
}

async function tell(call: Promise<unknown>): Promise<object> {
  const error = await call.catch((reason: unknown) => reason);
  if (!isAutomationError(error)) return { error: String(error) };
  const { kind, outcome, status, attempts } = error;
  return { kind, outcome, status, attempts, isPermission: error instanceof PermissionDeniedError };
}

declare global {
  var runInPage: (scenario: Scenario) => Promise<object>;
}
globalThis.runInPage = (scenario) => scenarios[scenario]();
