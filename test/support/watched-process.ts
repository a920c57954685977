import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";

/** A process whose output is waited for. */
export class WatchedProcess {
  /** Both streams, as they came. */
  output = "";
  stdout = "";
  stderr = "";
  /** Its exit code, or the signal that ended it, once both streams have ended too. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  /** False while a process that it started still has one of its streams. */
  hasEnded = false;
  readonly child: ChildProcess;
  readonly #watchers = new Set<() => void>();

  constructor([executable = "", ...args]: readonly string[], options: SpawnOptions = {}) {
    this.child = spawn(executable, args, { ...options, stdio: "pipe" });
    for (const name of ["stdout", "stderr"] as const) {
      this.child[name]?.setEncoding("utf8").on("data", (text: string) => {
        this[name] += text;
        this.output += text;
        this.#look();
      });
    }
    this.ended = new Promise((done) => {
      this.child.on("close", (code, signal) => {
        this.hasEnded = true;
        this.#look();
        done(code ?? signal);
      });
    });
  }

  #look(): void {
    for (const watcher of this.#watchers) watcher();
  }

  /** Waits until the output matches; rejects when the process ends without that. */
  async says(pattern: RegExp): Promise<void> {
    await new Promise<void>((done, fail) => {
      const look = (): void => {
        const isSaid = pattern.test(this.output);
        if (!isSaid && !this.hasEnded) return;
        this.#watchers.delete(look);
        if (isSaid) done();
        else fail(new Error(`it never said ${pattern}, but:\n${this.output}`));
      };
      this.#watchers.add(look);
      look();
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  type(keys: string): void {
    this.child.stdin?.write(keys);
  }
}
