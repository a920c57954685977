/** A part of a bench in a process of its own, so that no part spends the time of another. Messages are plain objects. */

import { type ChildProcess, fork } from "node:child_process";
import { on } from "node:events";

/** The side of the bench. */
export class Part {
  readonly #process: ChildProcess;
  readonly #messages: AsyncIterator<unknown[]>;

  /** Starts a module, which finds its task by `taskOf`. It sees nothing of the environment of this process. */
  constructor(module: URL, task: object) {
    const { PATH, SystemRoot } = process.env;
    const execArgv = ["--expose-gc"];
    this.#process = fork(module, [JSON.stringify(task)], { env: { PATH, SystemRoot }, execArgv });
    this.#messages = on(this.#process, "message", { close: ["exit"] });
  }

  tell(message: string): void {
    this.#process.send(message);
  }

  /** Returns the next message. Rejects if the process ends first, or says nothing for ten minutes. */
  async next<Message>(): Promise<Message> {
    const timer = setTimeout(() => this.stop(), 600_000);
    const { value, done } = await this.#messages.next();
    clearTimeout(timer);
    if (done) throw new Error(`${this.#process.spawnargs.join(" ")} gave no answer`);
    return value[0] as Message; // both sides are ours
  }

  stop(): void {
    this.#process.kill("SIGKILL");
  }
}

/** Returns the task of this process. The process ends with the bench that started it. */
export function taskOf<Task>(): Task {
  process.once("disconnect", () => process.exit());
  return JSON.parse(process.argv[2] ?? "{}") as Task; // both sides are ours
}

export function say(message: object): void {
  process.send?.(message);
}
