/** A part of a bench in a process of its own, so that no part spends the time of another. Messages are plain objects. */

import { type ChildProcess, fork } from "node:child_process";
import { on } from "node:events";

/** The side of the bench. */
export class Part {
  readonly #process: ChildProcess;
  readonly #messages: AsyncIterator<unknown[]>;
  #errors = "";

  /** Starts a module, which finds its task by `taskOf`. It sees nothing of the environment of this process. */
  constructor(module: URL, task: object) {
    const { PATH, SystemRoot } = process.env;
    this.#process = fork(module, [JSON.stringify(task)], {
      env: { PATH, SystemRoot },
      execArgv: ["--expose-gc"],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#messages = on(this.#process, "message", { close: ["exit"] });
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-4_000);
    });
  }

  /** Returns the next message. Rejects if the process ends first, or says nothing for so long. */
  async next<Message>(withinMs = 120_000): Promise<Message> {
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), withinMs);
    const { value, done } = await this.#messages.next();
    clearTimeout(timer);
    if (done) throw new Error(`${this.#process.spawnargs.join(" ")} said nothing\n${this.#errors}`);
    return value[0] as Message; // both sides are ours
  }

  tell(message: string): void {
    this.#process.send(message);
  }

  /** Ends the process. */
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

/** Runs `use` while a service runs in a process of its own. */
export async function withService<Listening, Result>(
  [module, task]: readonly [URL, object],
  use: (listening: Listening, service: Part) => Promise<Result>,
): Promise<Result> {
  const service = new Part(module, task);
  try {
    return await use(await service.next<Listening>(), service);
  } finally {
    service.stop();
  }
}
