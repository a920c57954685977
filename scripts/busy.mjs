/**
 * Runs a command beside eight busy processes, as on a slow machine, and ends with its status:
 *
 *     node scripts/busy.mjs npm test
 *
 * Each busy process has a channel to this one, and ends when the channel closes: also if this process is killed.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";

const PROCESSES = 8;
/** Exit codes of a shell. */
const MISUSED = 2;
const NOT_FOUND = 127;
const KILLED = 128;

const BUSY = `
  process.on("disconnect", () => process.exit());
  const compute = () => {
    const end = Date.now() + 50;
    while (Date.now() < end);
    setImmediate(compute);
  };
  compute();`;

const [command, ...args] = process.argv.slice(2);
if (!command) {
  console.error("usage: node scripts/busy.mjs COMMAND…");
  process.exit(MISUSED);
}

const busy = Array.from({ length: PROCESSES }, () =>
  spawn(process.execPath, ["--eval", BUSY], { stdio: ["ignore", "ignore", "inherit", "ipc"] }),
);
const running = spawn(command, args, { stdio: "inherit", shell: process.platform === "win32" });
process.on("SIGINT", () => {}); // a terminal interrupts the command as well, and this process ends after it
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => running.kill(signal));

running.on("error", ({ message }) => {
  console.error(message);
  end(NOT_FOUND);
});
running.on("exit", (code, signal) => end(code ?? KILLED + constants.signals[signal]));

function end(status) {
  process.exitCode = status;
  for (const child of busy) if (child.connected) child.disconnect();
}
