/**
 * Bounds: what one response of at most 64 KiB on the wire can do to a process, in every shape of JSON that was thought of,
 * each in a process of its own. And what the bounds cost an ordinary page.
 *
 * Usage: node bounds/index.ts [part of a name]
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { boundsFor, DEFAULT_MAX_RESPONSE_BYTES, parseJson } from "../../src/request/json.ts";
import { table, writeResults } from "../support/report.ts";
import type { Probed } from "./probe.ts";
import { encode, SHAPES } from "./shapes.ts";

const MOST_BLOCKED_MS = 250;
const MOST_ADDED_MB = 200;
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

const costs = costOfBounds();
console.log(
  `an ordinary page of 200 projects: parsed in ${costs.without.toFixed(1)} µs, with its bounds checked ` +
    `in ${costs.with.toFixed(1)} µs`,
);
writeResults("bounds", { rows, costs });

const over = rows.filter(({ blockedMs, addedMb }) => blockedMs > MOST_BLOCKED_MS || addedMb > MOST_ADDED_MB);
for (const { name, coding } of over) console.error(`over the bounds: ${name} in ${coding}`);
process.exitCode = over.length > 0 ? 1 : 0;

/** Microseconds for the text of an ordinary page: the best of many rounds, which alternate. */
function costOfBounds(): { readonly without: number; readonly with: number } {
  const data = Array.from({ length: 200 }, (_, n) => ({ id: `prj_${n}`, name: `project-${n}` }));
  const text = JSON.stringify({ data, next_cursor: null });
  const bounds = boundsFor(DEFAULT_MAX_RESPONSE_BYTES);
  const round = (work: () => unknown): number => {
    const started = performance.now();
    for (let n = 0; n < 500; n += 1) work();
    return ((performance.now() - started) / 500) * 1_000;
  };
  const best = { without: Number.POSITIVE_INFINITY, with: Number.POSITIVE_INFINITY };
  for (let n = 0; n < 40; n += 1) {
    best.without = Math.min(
      best.without,
      round(() => parseJson(text)),
    );
    best.with = Math.min(
      best.with,
      round(() => parseJson(text, bounds)),
    );
  }
  return best;
}
