/**
 * Bounds: what one response of at most 64 KiB on the wire can do to a process, in every shape of JSON that was thought of,
 * each in a process of its own.
 *
 * Usage: node bounds/index.ts [part of a name]
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { table, writeResults } from "../support/report.ts";
import type { Probed } from "./probe.ts";
import { encode, SHAPES } from "./shapes.ts";

const MOST_BLOCKED_MS = 250;
const MOST_ADDED_MB = 200;
/** Two million levels in 4 MiB: the platform's `JSON.parse` alone needs 380 ms and 160 MB for them. */
const OF_LEVELS = { name: "nested arrays, 4 MiB", mostBlockedMs: 500, mostAddedMb: 250 };
/** A busy machine only ever adds to the time, so the shortest counts; of the memory the most. */
const ROUNDS = 5;

const [wanted = ""] = process.argv.slice(2);
const rows: (Probed & { name: string; coding: string; wireBytes: number })[] = [];
for (const { name, call, status, text } of SHAPES.filter((shape) => shape.name.includes(wanted))) {
  for (const { coding, body } of encode(text)) {
    const args = ["--expose-gc", join(import.meta.dirname, "probe.ts"), call, String(status), coding];
    const probes = Array.from({ length: ROUNDS }, () => {
      const printed = execFileSync(process.execPath, args, { encoding: "utf8", input: body });
      return JSON.parse(printed) as Probed; // the probe's own
    });
    const blockedMs = Math.min(...probes.map((probe) => probe.blockedMs));
    const addedMb = Math.max(...probes.map((probe) => probe.addedMb));
    rows.push({ name, coding, wireBytes: body.byteLength, outcome: probes[0]?.outcome ?? "", blockedMs, addedMb });
  }
}
console.log(
  table(
    ["response", "coding", "on the wire", "blocks", "adds", "outcome"],
    rows.map(({ name, coding, wireBytes, blockedMs, addedMb, outcome }) => [
      name,
      coding,
      `${wireBytes} B`,
      `${blockedMs.toFixed(0)} ms`,
      `${addedMb.toFixed(0)} MB`,
      outcome.slice(0, 90),
    ]),
  ),
);

writeResults("bounds", { rows });

const over = rows.filter(({ name, blockedMs, addedMb }) =>
  name === OF_LEVELS.name
    ? blockedMs > OF_LEVELS.mostBlockedMs || addedMb > OF_LEVELS.mostAddedMb
    : blockedMs > MOST_BLOCKED_MS || addedMb > MOST_ADDED_MB,
);
for (const { name, coding } of over) console.error(`over the bounds: ${name} in ${coding}`);
process.exitCode = over.length > 0 ? 1 : 0;
