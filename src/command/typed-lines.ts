import { execFileSync } from "node:child_process";
import { createInterface } from "node:readline";

/**
 * Calls `listener` with each line that is typed into the terminal. While this process is in the background it reads nothing:
 * a terminal stops a process there that reads. Returns a function that ends it.
 */
export function onTypedLine(listener: (line: string) => void): () => void {
  const lines = createInterface({ input: process.stdin }).on("line", listener);
  const follow = (): void => void (isInForeground() ? lines.resume() : lines.pause());
  follow();
  if (process.platform === "win32") return () => lines.close();
  process.on("SIGCONT", follow); // after Ctrl-Z: by `fg` or `bg`
  return () => {
    process.off("SIGCONT", follow);
    lines.close();
  };
}

/** True also where `ps` cannot tell: a process that reads a terminal is in the foreground as a rule. */
function isInForeground(): boolean {
  if (process.platform === "win32") return true;
  try {
    const words = ["-o", "pgid=", "-o", "tpgid=", "-p", String(process.pid)];
    const [own, foreground] = execFileSync("ps", words, { encoding: "utf8", stdio: "pipe" }).trim().split(/\s+/);
    return own === foreground;
  } catch {
    return true;
  }
}
