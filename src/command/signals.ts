import type { ChildProcess } from "node:child_process";
import { isatty } from "node:tty";

export interface Signals {
  /** Aborted when the user wants this process to end. Its reason is the name of the signal. */
  readonly interruption: AbortSignal;
  /**
   * Passes signals on to a program that has just been started. While it runs, they are for the program: Ctrl-C ends that
   * alone. SIGTERM and SIGHUP also want this process to end. Resolves when the program has ended; later signals are for this
   * process.
   */
  readonly passTo: (program: ChildProcess) => Promise<void>;
}

const isWindows = process.platform === "win32";

/** SIGBREAK is Ctrl-Break, which Windows alone has. There, SIGHUP says that the window closes; elsewhere, `nohup` ignores it. */
const ENDING: readonly NodeJS.Signals[] = isWindows
  ? ["SIGINT", "SIGTERM", "SIGBREAK", "SIGHUP"]
  : ["SIGINT", "SIGTERM"];
const PASSED: readonly NodeJS.Signals[] = isWindows
  ? ENDING
  : ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];
const ENDING_BOTH: readonly string[] = ["SIGTERM", "SIGHUP"];
/** A terminal sends them to each of its programs, so passed on, they would be there twice. */
const OF_TERMINAL: readonly string[] = isWindows ? ENDING : ["SIGINT", "SIGHUP", "SIGQUIT"];

/** Listens to the signals of this process. Without a program the first one interrupts it, and a second one ends it at once. */
export function listenToSignals(): Signals {
  const interruption = new AbortController();
  const interrupt = (signal: NodeJS.Signals): void => interruption.abort(signal);
  for (const signal of ENDING) process.once(signal, interrupt);
  const passTo = async (program: ChildProcess): Promise<void> => {
    const isAtTerminal = isWindows || [0, 1, 2].some(isatty);
    const pass = (signal: NodeJS.Signals): void => {
      if (!isAtTerminal || !OF_TERMINAL.includes(signal)) program.kill(signal);
      if (ENDING_BOTH.includes(signal)) interrupt(signal);
    };
    for (const signal of PASSED) process.on(signal, pass);
    for (const signal of ENDING) process.off(signal, interrupt);
    // It has come while the program was started.
    if (interruption.signal.aborted) program.kill(interruption.signal.reason as NodeJS.Signals); // see its docstring
    await new Promise((resolve) => program.once("exit", resolve));
    for (const signal of ENDING) process.once(signal, interrupt);
    for (const signal of PASSED) process.off(signal, pass);
  };
  return { interruption: interruption.signal, passTo };
}
