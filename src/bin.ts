#!/usr/bin/env node
/** The program `project-automation`. */
import { runBin } from "./commands.ts";

// SIGBREAK is Ctrl-Break, which Windows alone has. There, SIGHUP says that the window closes; elsewhere, `nohup` ignores it.
const signals: NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGBREAK"];
if (process.platform === "win32") signals.push("SIGHUP");

const interruption = new AbortController();
for (const signal of signals) process.once(signal, () => interruption.abort());
// A reader that goes away, as `head` does, is no reason to end: neither for results nor for diagnostics.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

process.exitCode = await runBin(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  environment: process.env,
  columns: process.stdout.columns ?? 120,
  colour: process.stdout.isTTY && !process.env["NO_COLOR"],
  signal: interruption.signal,
});
