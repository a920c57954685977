/** Puts the figures of the last run into docs/performance.md, between its two marks. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { BUSY, isBusy, isMet, round, type Section } from "./bench.ts";

interface Results {
  readonly date: string;
  readonly node: string;
  readonly platform: string;
  readonly cpu: string;
  /** The load average when it began. */
  readonly load: number;
  /** Fewer rounds, without the clients of other services. */
  readonly quick: boolean;
  readonly versions: Readonly<Record<string, string>>;
  readonly sections: readonly Section[];
}

const document = new URL("../../docs/performance.md", import.meta.url);
const [begin, end] = ["<!-- figures: npm run bench:document -->", "<!-- end of the figures -->"];

const [results] = ["cost", "cost-quick"]
  .map((name) => new URL(`../results/${name}.json`, import.meta.url))
  .filter((file) => existsSync(file))
  .map((file) => JSON.parse(readFileSync(file, "utf8")) as Results) // as index.ts writes them
  .sort((one, other) => other.date.localeCompare(one.date));
if (results === undefined) throw new Error("there are no figures: npm run bench");
const text = readFileSync(document, "utf8");
const [before, rest] = text.split(begin);
const after = rest?.split(end)[1];
if (before === undefined || after === undefined) throw new Error("docs/performance.md has lost its marks");
writeFileSync(document, `${before}${begin}\n\n${figures(results)}\n\n${end}${after}`);

function figures({ date, node, platform, cpu, load, quick, versions, sections }: Results): string {
  const packages = Object.entries(versions).map((entry) => entry.join(" "));
  return [
    `Measured on ${date.slice(0, 10)}: Node ${node}, ${platform}, ${cpu}, load ${round(load)} before the run. ${packages.join(", ")}.`,
    ...(quick ? ["A short run: few rounds, and without the clients of other services."] : []),
    ...(isBusy(load) ? [`**${BUSY}**`] : []),
    summary(sections),
    ...sections.map(({ title, note, heading, rows }) => `### ${title}\n\n${note}\n\n${markdown(heading, rows)}`),
  ].join("\n\n");
}

function summary(sections: readonly Section[]): string {
  const targets = sections.flatMap((section) => section.targets);
  return markdown(
    ["target", "measured", "bound", ""],
    targets.map((target) => [
      target.what,
      round(target.value),
      target.atMost === undefined ? `at least ${target.atLeast}` : `at most ${target.atMost}`,
      isMet(target) ? "met" : "missed",
    ]),
  );
}

function markdown(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = heading.map((_, column) => (column === 0 ? "---" : "--:"));
  return [heading, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
