/** Runs an example as its user would: a process of its own, a folder of its own, the service at an address. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { RunningEmulator } from "project-automation/testing/node";
import { NODE, type Platform } from "../../support/platforms.ts";
import { onTerminal as behindTerminal } from "../../support/terminal.ts";
import { WatchedProcess } from "../../support/watched-process.ts";

const EXAMPLES = resolve(import.meta.dirname, "../../../examples");

export interface Start {
  readonly service: Pick<RunningEmulator, "baseUrl" | "token">;
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Runs it on a terminal of 80 columns, where what is typed reaches it. */
  readonly onTerminal?: boolean;
  /** In place of this Node. */
  readonly platform?: Platform;
}

export class Program extends WatchedProcess {
  constructor(commandLine: readonly string[], { service, folder, env, onTerminal = false, platform = NODE }: Start) {
    const [script = "", ...rest] = commandLine;
    const command = [...platform, join(EXAMPLES, script), ...rest];
    super(onTerminal ? behindTerminal(command) : command, {
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        PROJECT_AUTOMATION_BASE_URL: service.baseUrl,
        PROJECT_AUTOMATION_TOKEN: service.token,
        ...env,
      },
    });
  }
}

/** Runs it until it ends. */
export async function run(commandLine: readonly string[], start: Start): Promise<{ code: unknown; output: string }> {
  const program = new Program(commandLine, start);
  return { code: await program.ended, output: program.output };
}

/** A folder that is gone with its scope. */
export function temporaryFolder(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "example-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}
