import { execFile } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { type Environment, startProgram } from "../command/start-program.ts";
import { after } from "../core/time/clock.ts";
import { delay } from "../emulator/exchange.ts";
import type { Outcome } from "./run-record.ts";

export interface Conditions {
  readonly cwd: string;
  readonly env: Environment;
  readonly limitMs: number;
  readonly kill: AbortSignal;
  readonly show: ((text: string) => void) | undefined;
}

const KEPT_CHARACTERS = 1024 * 1024;
const isWindows = process.platform === "win32";

/** The time for what a program has printed. A process that has left its group may keep the output open. */
const OUTPUT_MS = 500;

/** Starts a program in a process group of its own. When it ends, nothing of the group is left. */
export async function runStart(
  words: readonly string[],
  { cwd, env, limitMs, kill, show }: Conditions,
): Promise<{ readonly outcome: Outcome; readonly out: string }> {
  const program = await startProgram(words, { cwd, env, detached: !isWindows, stdio: ["ignore", "pipe", "pipe"] });
  const printed = { stdout: "", both: "" };
  for (const name of ["stdout", "stderr"] as const) {
    program[name]?.setEncoding("utf8").on("data", (text: string) => {
      show?.(text);
      if (name === "stdout") printed.stdout = (printed.stdout + text).slice(-KEPT_CHARACTERS);
      printed.both = (printed.both + text).slice(-KEPT_CHARACTERS);
    });
  }
  const killGroup = (): void => endGroup(program.pid);
  let isLate = false;
  const stopLimit = after(limitMs, () => {
    isLate = true;
    killGroup();
  });
  const closed = once(program, "close");
  kill.addEventListener("abort", killGroup);
  if (kill.aborted) killGroup();
  const [code, signal] = (await once(program, "exit")) as [number | null, NodeJS.Signals | null];
  stopLimit();
  kill.removeEventListener("abort", killGroup);
  killGroup();
  await Promise.race([closed, delay(OUTPUT_MS, undefined)]);
  program.stdout?.destroy();
  program.stderr?.destroy();
  const outcome = (): Outcome => {
    if (code === 0) return { state: "done", words: "ended with 0" };
    if (isLate) return { state: "hangs", words: `was not over after ${Math.round(limitMs / 1_000)} s` };
    if (kill.aborted) return { state: "killed", words: "was killed" };
    const status = code ?? 128 + constants.signals[signal ?? "SIGKILL"];
    const error = errorLine(printed.both.replaceAll(cwd, "."));
    return { state: "failed", words: `ended with ${status}${error === "" ? "" : `: ${error}`}` };
  };
  return { outcome: outcome(), out: printed.stdout };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  if (isWindows) return void execFile("taskkill", ["/pid", String(pid), "/T", "/F"], () => undefined);
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of them have ended.
  }
}

const LONGEST_LINE = 160;

/** The line of an output that names the error: the last one that does, or the last one. */
export function errorLine(text: string): string {
  const lines = text
    .split("\n")
    .map((line) => line.replaceAll(/[^\x20-\x7e]/g, "?").trim())
    .filter((line) => line !== "" && !/^(?:at |Node\.js v|Bun v|[}\]^])/.test(line));
  const line = lines.filter((one) => /^(?:\S* )?\S*(?:Error|Exception)\b.*:/.test(one)).at(-1) ?? lines.at(-1) ?? "";
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE - 1)}…` : line;
}
