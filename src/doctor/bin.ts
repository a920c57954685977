#!/usr/bin/env node
/** The program `project-automation-doctor`. */
import { sleep } from "../clock.ts";
import { runCommand } from "./node/command.ts";
import { sendByNode } from "./node/send.ts";

const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interruption.abort());
// A reader that goes away, as `head` does, is no reason to end.
process.stdout.on("error", () => undefined);

process.exitCode = await runCommand(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  environment: process.env,
  columns: process.stdout.columns ?? 120,
  send: (request) => sendByNode(request),
  sleep: (ms) => sleep(ms, interruption.signal),
  wallClock: () => Date.now(),
  signal: interruption.signal,
});
