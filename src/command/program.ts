import { constants } from "node:os";
import type { Signals } from "./signals.ts";
import { type Environment, startProgram } from "./start-program.ts";

/**
 * Runs a program on the streams of this process, and passes signals on to it. Resolves with its exit code as a shell shows
 * it: 128 + n after signal n. Rejects with a {@link CommandError} if it cannot be started. Its status is that of `env`: 127
 * if there is no such program, else 126.
 */
export async function runProgram(
  words: readonly string[],
  environment: Environment,
  signals: Signals,
): Promise<number> {
  const { interruption, passTo } = signals;
  if (interruption.aborted) return statusAfter(interruption.reason as NodeJS.Signals); // see its docstring
  const program = await startProgram(words, { env: environment, stdio: "inherit" });
  await passTo(program);
  return program.signalCode === null ? (program.exitCode ?? 0) : statusAfter(program.signalCode);
}

function statusAfter(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
