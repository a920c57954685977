/** The committed results of the benches. */

import { readFileSync } from "node:fs";

/** The file of a measure, or of a recording. Its shape is that of who wrote it, in this folder or its parent. */
export function result<Result>(name: string): Result {
  return JSON.parse(readFileSync(new URL(`../results/${name}.json`, import.meta.url), "utf8")) as Result;
}

export interface Measured<Figures> {
  readonly clients: Readonly<Record<string, Figures>>;
}

export function figuresOf<Figures>(name: string, client: string): Figures {
  const figures = result<Measured<Figures>>(name).clients[client];
  if (figures === undefined) throw new Error(`bench/results/${name}.json has no ${client}`);
  return figures;
}

/** A number as English writes it: 1,000. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}
