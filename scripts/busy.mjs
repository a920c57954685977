/**
 * Runs a command beside eight busy threads, as on a slow machine, and ends with its status:
 *
 *     node scripts/busy.mjs npm test
 */
import { spawn } from "node:child_process";
import { Worker } from "node:worker_threads";

const [command, ...args] = process.argv.slice(2);
for (let count = 0; count < 8; count += 1) new Worker("for (;;);", { eval: true });
const running = spawn(command, args, { stdio: "inherit", shell: process.platform === "win32" });
process.on("SIGINT", () => {}); // a terminal interrupts the command as well, and this process ends after it
running.on("exit", (status) => process.exit(status ?? 1));
