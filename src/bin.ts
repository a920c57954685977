#!/usr/bin/env node
/** The program `project-automation`. */
import { openAddress } from "./command/open-address.ts";
import { listenToSignals } from "./command/signals.ts";
import { onTypedLine } from "./command/typed-lines.ts";
import { runBin } from "./commands.ts";
import { hasCode } from "./core/checks/values.ts";
import { platformTurn } from "./core/time/clock.ts";

const signals = listenToSignals();
const GONE = ["EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED"];

// A reader that goes away, as `head` does, is no reason to end: neither for results nor for diagnostics.
process.stderr.on("error", () => undefined);
let isOutputLost = false;
process.stdout.on("error", (error: Error) => {
  if (isOutputLost || hasCode(error, ...GONE)) return;
  isOutputLost = true;
  process.exitCode = 1;
  process.stderr.write(`project-automation: standard output cannot be written: ${error.message}\n`);
});

const showsColours = ({ isTTY }: NodeJS.WriteStream): boolean =>
  isTTY && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";

const status = await runBin(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  environment: process.env,
  columns: process.stdout.columns ?? 120,
  colour: { out: showsColours(process.stdout), err: showsColours(process.stderr) },
  signal: signals.interruption,
  openAddress,
  typed: process.stdin.isTTY ? onTypedLine : undefined,
  runProgram: async (words, variables) => {
    const { runProgram } = await import("./command/program.ts");
    return runProgram(words, { ...process.env, ...variables }, signals);
  },
});
process.exitCode = isOutputLost ? 1 : status;
for (const stream of [process.stdout, process.stderr]) {
  await new Promise((written) => stream.write("", written));
  await platformTurn(); // an error of the stream is told behind the write that failed
}
process.exit(); // whatever is left: a command that has ended ends the process
