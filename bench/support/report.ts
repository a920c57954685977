import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { fileURLToPath } from "node:url";

/** Rows under a heading, the first column to the left, the others to the right. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const drawn = lines.map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [drawn[0], rule, ...drawn.slice(1)].join("\n");
}

/** Writes the figures of one bench, with where and when they were measured; gives the file's path. */
export function writeResults(bench: string, figures: object): string {
  const folder = new URL("../results/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  const file = new URL(`${bench}.json`, folder);
  writeFileSync(file, `${JSON.stringify({ bench, ...circumstances(), ...figures }, null, 2)}\n`);
  return fileURLToPath(file);
}

function circumstances(): object {
  return {
    date: new Date().toISOString(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: `${availableParallelism()} x ${cpus()[0]?.model ?? "unknown"}`,
  };
}
