/** The tables of the pages, as they are written. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./snippets.ts";

/** A row as its cells. */
export type Row = readonly string[];

/** The head and the rows of the table of a page whose head begins with these cells. */
export function tableOf(
  page: string,
  ...first: readonly string[]
): { readonly head: Row; readonly rows: readonly Row[] } {
  const tables = readFileSync(join(root, page), "utf8").match(/(?:^\|.*\|\n)+/gm) ?? [];
  const found = tables.map(cellsOf).filter(([head = []]) => first.every((cell, index) => head[index] === cell));
  const [table] = found;
  if (table === undefined || found.length > 1)
    throw new Error(`${page} has ${found.length} tables with ${first.join(", ")}`);
  const [head = [], , ...rows] = table;
  return { head, rows };
}

function cellsOf(table: string): Row[] {
  const lines = table.trimEnd().split("\n");
  return lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
