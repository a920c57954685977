import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { normalizeSpawnCommand } from "tinyexec";
import { CommandError } from "./flags.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Starts a program, in this turn. Rejects with a {@link CommandError} if it cannot be started. */
export async function startProgram(
  words: readonly string[],
  options: SpawnOptions & { readonly env: Environment },
): Promise<ChildProcess> {
  const program = spawnProgram(words, options);
  if (program.pid === undefined) {
    const [cause] = (await once(program, "error")) as [NodeJS.ErrnoException];
    throw startError(words[0] ?? "", cause);
  }
  program.on("error", () => undefined); // a signal may not be sent to the program of another user, such as sudo
  return program;
}

function spawnProgram(
  [name = "", ...rest]: readonly string[],
  given: SpawnOptions & { readonly env: Environment },
): ChildProcess {
  try {
    // On Windows a script such as npm.cmd is started by cmd.exe, which also says that there is no such program.
    const { command, args, options } = normalizeSpawnCommand(name, rest, given);
    return spawn(command, args, options);
  } catch (cause) {
    throw startError(name, cause as NodeJS.ErrnoException); // `spawn` throws no other
  }
}

function startError(name: string, { code }: NodeJS.ErrnoException): CommandError {
  const status = code === "ENOENT" ? 127 : 126;
  return new CommandError(`cannot run "${name}": ${problemOf(name, code)}`, status);
}

function problemOf(name: string, code: string | undefined): string | undefined {
  if (code === "EACCES") return "it is a folder, or not executable";
  if (code !== "ENOENT") return code;
  if (name.includes("/") && existsSync(name)) return "the program in its first line is not found";
  return "not found; a program and its arguments stand behind --, as in: -- node app.mjs";
}
