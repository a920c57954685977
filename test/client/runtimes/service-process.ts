import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Packed } from "../../support/packed.ts";
import type { Report } from "./programs/run.ts";

type Word = { readonly origin: string } | { readonly run: string; readonly report: Report };

/** `service.ts`, in a process of its own, and the reports that come in there. */
export class ServiceProcess {
  readonly origin: string;
  readonly #child: ChildProcess;
  readonly #reports = new Map<string, (report: Report) => void>();

  private constructor(child: ChildProcess, origin: string) {
    this.#child = child;
    this.origin = origin;
    child.on("message", (word: Word) => {
      if ("run" in word) this.#reports.get(word.run)?.(word.report);
    });
  }

  static async start({ root, folder }: Packed): Promise<ServiceProcess> {
    const child = fork(join(import.meta.dirname, "service.ts"), [root, folder], { stdio: "inherit" });
    const [word] = (await once(child, "message")) as [Word];
    if (!("origin" in word)) throw new Error("the service's process says where it is before anything else");
    return new ServiceProcess(child, word.origin);
  }

  /** The report of a run that is about to start. */
  report(run: string): Promise<Report> {
    return new Promise((resolve) => void this.#reports.set(run, resolve));
  }

  async stop(): Promise<void> {
    const gone = once(this.#child, "exit");
    this.#child.disconnect();
    await gone;
  }
}
