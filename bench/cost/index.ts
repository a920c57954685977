/**
 * What calls, walks and waiting cost, beside other clients.
 *
 * Usage: node cost/index.ts [--quick] [--package folder]… [--contender name]… [measure …]
 */

import { loadavg } from "node:os";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { writeResults } from "../support/report.ts";
import { versionsOf } from "../support/versions.ts";
import { type Bench, BUSY, draw, isBusy, type Measure, type Section } from "./bench.ts";
import { packages } from "./contenders.ts";
import * as admission from "./measures/admission.ts";
import * as concurrency from "./measures/concurrency.ts";
import * as loopback from "./measures/loopback.ts";
import * as memory from "./measures/memory.ts";
import * as perCall from "./measures/per-call.ts";
import * as prefetch from "./measures/prefetch.ts";
import * as signal from "./measures/signal.ts";
import * as size from "./measures/size.ts";
import * as walk from "./measures/walk.ts";
import * as weight from "./measures/weight.ts";

const measures: readonly Measure[] = [
  perCall,
  loopback,
  walk,
  prefetch,
  memory,
  concurrency,
  admission,
  signal,
  size,
  weight,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    package: { type: "string", multiple: true, default: [] },
    contender: { type: "string", multiple: true, default: [] },
  },
});
const chosen = measures.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const unknown = positionals.filter((name) => !measures.some((measure) => measure.name === name));
if (unknown.length > 0) {
  console.error(`no measure ${unknown.join(", ")}; known are ${measures.map(({ name }) => name).join(", ")}`);
  process.exit(1);
}

const [measured = fileURLToPath(new URL("../../", import.meta.url)), ...others] = values.package;
const bench: Bench = {
  quick: values.quick,
  package: resolve(measured),
  others,
  contenders: values.contender,
  progress: (what) => process.stderr.write(`${((performance.now() - startedAt) / 1_000).toFixed(0)} s  ${what}\n`),
};
const startedAt = performance.now();
const [load = 0] = loadavg();
if (isBusy(load)) console.log(`${BUSY} (load ${load.toFixed(1)})`);
const versions = versionsOf(packages);
console.log(
  `Node ${process.version}, ${Object.entries(versions)
    .map((entry) => entry.join(" "))
    .join(", ")}`,
);

const sections: Section[] = [];
for (const measure of chosen) {
  for (const section of await measure.run(bench)) {
    console.log(draw(section));
    sections.push(section);
  }
}
const seconds = (performance.now() - startedAt) / 1_000;
console.log(`\nin ${seconds.toFixed(0)} s`);
if (positionals.length === 0 && values.package.length === 0 && values.contender.length === 0) {
  const file = writeResults(bench.quick ? "cost-quick" : "cost", {
    seconds,
    load,
    quick: bench.quick,
    versions,
    sections,
  });
  console.log(`written: ${relative("", file)}`);
}
