import type { ChildProcess } from "node:child_process";
import { CONSOLE, type Group, watchGroup } from "./process-group.ts";

export interface Signals {
  /** Aborted when the user wants this process to end. Its reason is the name of the signal. */
  readonly interruption: AbortSignal;
  /** Gets ready for a program that is started in the turn in which this resolves. */
  readonly prepare: () => Promise<PassTo>;
}

/**
 * Passes signals on to a program that has just been started. While it runs, they are for the program: Ctrl-C ends that
 * alone. SIGTERM and SIGHUP also want this process to end. Resolves when the program has ended; later signals are for this
 * process.
 */
export type PassTo = (program: ChildProcess) => Promise<void>;

const isWindows = process.platform === "win32";

/** SIGBREAK is Ctrl-Break, which Windows alone has. There, SIGHUP says that the window closes; elsewhere, `nohup` ignores it. */
const ENDING: readonly NodeJS.Signals[] = isWindows
  ? ["SIGINT", "SIGTERM", "SIGBREAK", "SIGHUP"]
  : ["SIGINT", "SIGTERM"];
const PASSED: readonly NodeJS.Signals[] = isWindows
  ? ENDING
  : ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];
const ENDING_BOTH: readonly string[] = ["SIGTERM", "SIGHUP"];

/** Listens to the signals of this process. Without a program the first one interrupts it, and a second one ends it at once. */
export function listenToSignals(): Signals {
  const interruption = new AbortController();
  const interrupt = (signal: NodeJS.Signals): void => interruption.abort(signal);
  for (const signal of ENDING) process.once(signal, interrupt);

  /** Listens before the program is started, which may send a signal at once. */
  const passTo = (group: Group): PassTo => {
    let running: ChildProcess | undefined;
    const receive = async (signal: NodeJS.Signals): Promise<void> => {
      const program = running;
      const receiver = await group.receiverOf(signal);
      if (receiver === "process") program?.kill(signal);
      const isForThis = program === undefined && receiver !== "group before";
      if (isForThis || ENDING_BOTH.includes(signal)) interruption.abort(signal);
    };
    for (const signal of PASSED) process.on(signal, () => void receive(signal));
    for (const signal of ENDING) process.off(signal, interrupt);
    return async (program) => {
      running = program;
      await new Promise((resolve) => program.once("exit", resolve));
      // A signal to the group may have ended the program, and be yet to come here.
      await group.settle();
      running = undefined;
    };
  };
  const prepare = async (): Promise<PassTo> => {
    const group = isWindows ? CONSOLE : watchGroup(PASSED);
    const [sent] = await group.settle();
    if (sent !== undefined) interruption.abort(sent);
    return passTo(group);
  };
  return { interruption: interruption.signal, prepare };
}
