/** The service, in a process of its own: the emulator behind its HTTP server, and the method of another service beside it. */

import { pathToFileURL } from "node:url";
import { PROJECT } from "../clients.ts";
import { moduleOf } from "../support/manifest.ts";
import { say, taskOf } from "../support/process.ts";

/** What the service says once it listens. */
export interface Listening {
  readonly baseUrl: string;
  readonly token: string;
}

/** What it says at the end: when each request came, whether it was refused, and the titles of all issues. */
export interface Report {
  readonly requests: readonly { readonly at: number; readonly refused: boolean }[];
  readonly titles: readonly string[];
}

const { folder } = taskOf<{ folder: string }>();
const { startEmulator } = (await import(
  pathToFileURL(moduleOf(folder, "./testing/node")).href
)) as typeof import("../../dist/testing/node.js");
const { baseUrl, token, emulator } = await startEmulator({
  projects: [{ name: PROJECT }],
  rateLimit: { limit: 50, windowMs: 2_000 },
  // Finer than whole milliseconds, and never set back.
  now: () => performance.timeOrigin + performance.now(),
});

emulator.route({
  method: "POST",
  path: "/slack/chat.postMessage",
  handle: ({ text }) => {
    const title = new URLSearchParams(text).get("text") ?? "";
    const { number } = emulator.issues.create(PROJECT, { title, type: "bug" });
    return { body: { ok: true, number, title } };
  },
});
process.on("message", () => {
  const requests = emulator.requests.map(({ at, status }) => ({ at, refused: status === 429 }));
  say({ requests, titles: emulator.issues.list(PROJECT).map(({ title }) => title) } satisfies Report);
});
say({ baseUrl, token } satisfies Listening);
