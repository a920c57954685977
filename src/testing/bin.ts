#!/usr/bin/env node
/** The program `project-automation-emulator`. */
import { once } from "node:events";
import { runCommand } from "./node/command.ts";

// A reader that goes away, as `head` does, is no reason to end.
process.stdout.on("error", () => undefined);

process.exitCode = await runCommand(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  colour: process.stdout.isTTY && !process.env["NO_COLOR"],
  interrupted: Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]).then(() => undefined),
});
