/**
 * Records the picture of an import: the example is killed with requests in flight, and started again. It does not send the
 * items of these requests. The recorder looks into the service, and starts the example once more with what it found.
 */

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startEmulator } from "../../dist/testing/node.js";
import type { BulkTerminal } from "./bulk-terminal.ts";

const ITEMS = 200;
const KILLED_AFTER = 90;
/** These requests get no response before the kill. The service carries out all but the first. */
const IN_FLIGHT = ["Row 91", "Row 92", "Row 93"];
const ON_A_TERMINAL = "data:text/javascript,process.stderr.isTTY=true";

const service = await startEmulator({ rateLimit: { limit: 50, windowMs: 2_000 } });
const folder = mkdtempSync(join(tmpdir(), "bulk-terminal-"));
const file = join(folder, "issues.csv");
const rows = Array.from({ length: ITEMS }, (_, at) => `row-${at + 1},web,Row ${at + 1},bug`);
writeFileSync(file, ["id,project,title,type", ...rows, ""].join("\n"));
for (const [index, title] of IN_FLIGHT.entries()) {
  const match = ({ body }: { body?: unknown }): boolean => JSON.stringify(body ?? "").includes(`"${title}"`);
  service.emulator.fault({ match, drop: index === 0 ? "before" : "after", delayMs: 60_000 });
}

/** Runs the example until it ends, or until `isEnd` says that a line of progress is the last. */
function run(isEnd: (line: string) => boolean, ...answers: readonly string[]): Promise<BulkTerminal["runs"][number]> {
  const example = fileURLToPath(new URL("../../examples/bulk-issues.ts", import.meta.url));
  const env = {
    PATH: process.env["PATH"],
    PROJECT_AUTOMATION_BASE_URL: service.baseUrl,
    PROJECT_AUTOMATION_TOKEN: service.token,
  };
  const child = spawn(process.execPath, ["--import", ON_A_TERMINAL, example, file, ...answers], { env });
  const frames: [ms: number, line: string][] = [];
  let startedAt: number | undefined;
  let report = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    report += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    const line = text.split("\r\x1b[K").at(-1)?.trim() ?? "";
    startedAt ??= performance.now();
    if (line === "" || line === frames.at(-1)?.[1]) return;
    frames.push([Math.round(performance.now() - startedAt), line]);
    if (isEnd(line)) child.kill("SIGKILL");
  });
  return new Promise((resolve) => {
    child.once("close", () =>
      resolve({
        command: ["node bulk-issues.ts issues.csv", ...answers].join(" "),
        frames,
        report: report.trim().split("\n").filter(Boolean),
      }),
    );
  });
}

const isKilled = (line: string): boolean => Number.parseInt(line, 10) >= KILLED_AFTER && line.endsWith("waiting 1 s");
const toEnd = (): boolean => false;
const titles = (): readonly string[] => service.emulator.issues.list("web").map(({ title }) => title);
const runs = [await run(isKilled), await run(toEnd)];
// A person looks for each unknown item.
const found = new Set(titles());
const answers = IN_FLIGHT.flatMap((title) => [
  found.has(title) ? "--applied" : "--not-applied",
  title.replace("Row ", "row-"),
]);
runs.push(await run(toEnd, ...answers));
const recorded: BulkTerminal = {
  items: ITEMS,
  created: titles().length,
  duplicates: titles().length - new Set(titles()).size,
  runs,
};
writeFileSync(
  new URL("../results/bulk-terminal.json", import.meta.url),
  `${JSON.stringify(recorded).replaceAll("],[", "],\n[")}\n`,
);
rmSync(folder, { recursive: true });
await service.close();
