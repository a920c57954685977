#!/usr/bin/env node
/** The program `project-automation`. */
import { listenToSignals } from "./command/signals.ts";
import { runBin } from "./commands.ts";

const signals = listenToSignals();
// A reader that goes away, as `head` does, is no reason to end: neither for results nor for diagnostics.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

const showsColours = ({ isTTY }: NodeJS.WriteStream): boolean => isTTY && !process.env["NO_COLOR"];

process.exitCode = await runBin(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  environment: process.env,
  columns: process.stdout.columns ?? 120,
  colour: { out: showsColours(process.stdout), err: showsColours(process.stderr) },
  signal: signals.interruption,
  runProgram: async (words, variables) => {
    const { runProgram } = await import("./command/program.ts");
    return runProgram(words, { ...process.env, ...variables }, signals);
  },
});
