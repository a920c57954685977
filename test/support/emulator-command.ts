/** The emulator as a reader starts it: `project-automation emulator`, a process of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";

export interface EmulatorCommand {
  /** Everything up to its first request. */
  readonly printed: string;
  readonly baseUrl: string;
  readonly token: string;
  /** The id of that token. */
  readonly tokenId: string;
  /** Interrupts it, and resolves with its exit code. */
  readonly close: () => Promise<number | null>;
}

/** Starts the built program `bin`, without any flag. */
export async function startEmulatorCommand(bin: string): Promise<EmulatorCommand> {
  const child = spawn(process.execPath, [bin, "emulator"], { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  for await (const text of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    printed += text;
    if (printed.includes("Ctrl-C")) break;
  }
  child.stdout.resume(); // a full pipe would stop it
  const told = (name: string): string => new RegExp(`^${name}(.+)$`, "m").exec(printed)?.[1] ?? "";
  return {
    printed,
    baseUrl: told("PROJECT_AUTOMATION_BASE_URL="),
    token: told("PROJECT_AUTOMATION_TOKEN="),
    tokenId: told("token id: "),
    close: async () => {
      if (child.kill("SIGINT")) await once(child, "exit");
      return child.exitCode;
    },
  };
}
