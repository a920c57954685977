/**
 * A part of an experiment that runs in a process of its own, so that no part spends another's time. What the two sides
 * say to one another are plain objects.
 */

import { type ChildProcess, fork } from "node:child_process";

/** The experiment's side. */
export class Part {
  readonly #process: ChildProcess;
  readonly #name: string;
  readonly #exited: Promise<void>;
  readonly #heard: unknown[] = [];
  #hear: (() => void) | undefined;
  #errors = "";
  #hasExited = false;

  /** Starts a module, which finds its task by `taskOf`. It sees nothing of this process's environment. */
  constructor(module: URL, task: unknown, execArgv: string[] = []) {
    this.#name = module.pathname.slice(module.pathname.lastIndexOf("/") + 1);
    const { PATH, SystemRoot } = process.env;
    this.#process = fork(module, [JSON.stringify(task)], {
      env: { PATH, SystemRoot },
      execArgv,
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-4_000);
    });
    this.#process.on("message", (message) => {
      this.#heard.push(message);
      this.#hear?.();
    });
    this.#exited = new Promise((resolve) => {
      const exited = (): void => {
        this.#hasExited = true;
        resolve();
        this.#hear?.();
      };
      this.#process.once("exit", exited);
      this.#process.on("error", (error) => {
        this.#errors += error.message;
        // It could not be started; otherwise there is an exit.
        if (this.#process.pid === undefined) exited();
      });
    });
  }

  /** What the other side says next; rejects if it does not within so many milliseconds, or ends. */
  async next<Message>(withinMs: number): Promise<Message> {
    if (this.#heard.length === 0 && !this.#hasExited) await this.#somethingHappens(withinMs);
    if (this.#heard.length > 0) return this.#heard.shift() as Message;
    const { exitCode, signalCode } = this.#process;
    const reason = this.#hasExited
      ? `ended with ${signalCode ?? `code ${exitCode}`}`
      : `said nothing within ${withinMs} ms`;
    throw new Error(`${this.#name} ${reason}\n${this.#errors}`.trim());
  }

  tell(message: string): void {
    this.#process.send(message);
  }

  /** Ends the process, whatever it is doing. */
  async stop(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#exited;
  }

  #somethingHappens(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#hear = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** The other side: its task. The process ends with the experiment. */
export function taskOf<Task>(): Task {
  process.once("disconnect", () => process.exit());
  return JSON.parse(process.argv[2] ?? "null") as Task;
}

/** The other side: says something to the experiment. */
export function say(message: object): void {
  process.send?.(message);
}
