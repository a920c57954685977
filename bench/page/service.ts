/** The emulator in a process of its own: between two messages, the CPU time of its thread. */

import { pathToFileURL } from "node:url";
import { moduleOf } from "../support/manifest.ts";
import { say, taskOf } from "../support/process.ts";

export interface EmulatorTask {
  readonly folder: string;
  readonly page: boolean;
}

/** The emulator, once it listens. */
export interface Listening {
  readonly baseUrl: string;
  readonly token: string;
  readonly page: string | undefined;
}

const { folder, page } = taskOf<EmulatorTask>();
const { startEmulator } = (await import(
  pathToFileURL(moduleOf(folder, "./testing/node")).href
)) as typeof import("../../dist/testing/node.js"); // the entry point has this type
// The bounds of the command: a log that grows would be measured, too.
const service = await startEmulator({ page, rateLimit: false, logLimit: 1_000 });
say({ baseUrl: service.baseUrl, token: service.token, page: service.page } satisfies Listening);
let before = process.threadCpuUsage();
process.on("message", (message) => {
  if (message === "begin") before = process.threadCpuUsage();
  const { user, system } = process.threadCpuUsage(before);
  say({ µs: user + system });
});
