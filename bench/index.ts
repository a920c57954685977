/** The client beside other clients: `npm run bench -- [--quick] [--package FOLDER]… [MEASURE…]`. */

import { loadavg } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { buckets } from "./bucket/index.ts";
import { measures as costs } from "./cost/measures.ts";
import { heap } from "./growth/heap.ts";
import { growth } from "./growth/index.ts";
import { herd } from "./herd/index.ts";
import { page } from "./page/index.ts";

import { size } from "./size.ts";
import { type Measure, rowsOf, verdicts, write } from "./support/results.ts";
import { way } from "./way.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    package: { type: "string", multiple: true, default: [resolve(import.meta.dirname, "..")] },
  },
});
const bench = { quick: values.quick, packages: values.package.map((folder) => resolve(folder)) };
const measures: [name: string, Measure][] = Object.entries({
  ...costs,
  size,
  herd,
  growth,
  "queue-heap": heap,
  page,
  way,
  ...buckets,
});
const isAsked = (name: string): boolean => positionals.some((asked) => name === asked || name.startsWith(`${asked}-`));
const chosen = measures.filter(([name]) => positionals.length === 0 || isAsked(name));
if (chosen.length === 0) throw new Error(`the measures are ${measures.map(([name]) => name).join(", ")}`);

const load = loadavg()[0] ?? 0;
if (load > 1) console.log(`The machine is busy (load ${load.toFixed(1)}): times on the clock say little.`);
for (const [name, { title, guards = [], run }] of chosen) {
  console.log(`\n${name}: ${title}`);
  const figures = await run(bench);
  console.table(rowsOf(figures));
  for (const { line, holds } of verdicts(guards, figures)) {
    console.log(line);
    if (!holds) process.exitCode = 1;
  }
  // A short run, or one beside another build, leaves the results as they are.
  if (!bench.quick && bench.packages.length === 1) write(name, figures);
}
