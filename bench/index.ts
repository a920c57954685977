/**
 * The client beside other clients.
 *
 * Usage: npm run bench -- [--quick] [--package FOLDER]… [--client NAME]… [MEASURE…]
 */

import { loadavg } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { measures as costs } from "./cost/measures.ts";
import { herd } from "./herd/index.ts";
import { size } from "./size.ts";
import { type Bench, type Measure, rowsOf, verdicts, write } from "./support/results.ts";

const measures: Readonly<Record<string, Measure>> = { ...costs, size, herd };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    package: { type: "string", multiple: true, default: [fileURLToPath(new URL("..", import.meta.url))] },
    client: { type: "string", multiple: true, default: [] },
  },
});
const names = Object.keys(measures);
const chosen = names.filter(
  (name) => positionals.length === 0 || positionals.some((asked) => name === asked || name.startsWith(`${asked}-`)),
);
if (chosen.length === 0) {
  console.error(`no measure ${positionals.join(", ")}; there are ${names.join(", ")}`);
  process.exit(1);
}
const bench: Bench = {
  quick: values.quick,
  packages: values.package.map((folder) => resolve(folder)),
  clients: values.client,
};

const load = loadavg()[0] ?? 0;
if (load > 1) console.log(`The machine is busy (load ${load.toFixed(1)}): times on the clock say little.`);
for (const name of chosen) {
  const { title, guards = [], run } = measures[name] as Measure; // chosen from its keys
  console.log(`\n${name}: ${title}`);
  const figures = await run(bench);
  console.table(rowsOf(figures));
  for (const { line, holds } of verdicts(guards, figures)) {
    console.log(line);
    if (!holds) process.exitCode = 1;
  }
  // A part of a measure, or another build, is no result to keep.
  if (!values.quick && values.client.length === 0 && bench.packages.length === 1) write(name, figures);
}
