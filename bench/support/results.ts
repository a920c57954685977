/** Results: figures as small JSON in `bench/results`, and as tables on the terminal. */

import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { join } from "node:path";
import { type Client, type ClientName, clients, OURS } from "../clients.ts";

/** The lower quartile, the median and the upper quartile. */
export type Spread = readonly [low: number, median: number, high: number];

/** The figures of each client. Spreads are those of laps; series are over the way of one lap. */
export type Figures = Readonly<Record<string, Readonly<Record<string, number | Spread | readonly unknown[]>>>>;

/** A promise that a figure holds, beside other clients in the same run. */
export interface Guard {
  readonly client: ClientName;
  readonly figure: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** What the command line asks for. */
export interface Bench {
  /** Fewer rounds. */
  readonly quick: boolean;
  /** Checkouts of our package, each of them built. */
  readonly packages: readonly string[];
  /** Clients to measure, beside those that figures compare with; all of them if this is empty. */
  readonly clients: readonly string[];
}

export interface Measure {
  readonly title: string;
  readonly guards?: readonly Guard[];
  run(bench: Bench): Promise<Figures>;
}

/** Returns the entrants of a measure: `name`, or `name @ folder` for our package of another checkout. */
export function entrants<Name extends string>(
  names: readonly Name[],
  bench: Bench,
  always: readonly string[] = [],
): string[] {
  const asked = names.filter(
    (name) => bench.clients.length === 0 || bench.clients.includes(name) || always.includes(name),
  );
  const ours = asked.filter((name) => name.startsWith(OURS));
  return [...asked, ...bench.packages.slice(1).flatMap((folder) => ours.map((name) => `${name} @ ${folder}`))];
}

/** Returns the client of an entrant, and the checkout that it is of. */
export function clientOf(entrant: string, packages: readonly string[]): { client: Client; folder: string } {
  const [name = "", folder = packages[0] ?? ""] = entrant.split(" @ ");
  const client = clients[name as ClientName]; // an entrant is made of a name
  return { client, folder };
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const quantile = (share: number): number => {
    const at = (sorted.length - 1) * share;
    const [below = Number.NaN, above = below] = sorted.slice(Math.floor(at), Math.floor(at) + 2);
    return significant(below + (above - below) * (at % 1));
  };
  return [quantile(0.25), quantile(0.5), quantile(0.75)];
}

function significant(value: number): number {
  return Number(value.toPrecision(4));
}

/** Writes the figures of a measure, with where and when they were measured. */
export function write(measure: string, figures: Figures): void {
  const names = Object.keys(figures).flatMap((name) => clients[name as ClientName]?.packages ?? []);
  const circumstances = {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    machine: `${process.platform} ${process.arch}, ${availableParallelism()} x ${cpus()[0]?.model ?? "unknown"}`,
    load: significant(loadavg()[0] ?? 0),
    versions: Object.fromEntries([...new Set(names)].sort().map((name) => [name, versionOf(name)])),
  };
  // One client a line: small, and a difference can be read.
  const lines = Object.entries(figures).map(([name, found]) => `    ${JSON.stringify(name)}: ${JSON.stringify(found)}`);
  const head = JSON.stringify(circumstances, null, 2).slice(0, -2);
  const text = `${head},\n  "clients": {\n${lines.join(",\n")}\n  }\n}\n`;
  writeFileSync(new URL(`../results/${measure}.json`, import.meta.url), text);
}

function versionOf(name: string): string {
  const folder = name === OURS ? "../../" : `../node_modules/${name}/`;
  const { version } = JSON.parse(readFileSync(new URL(`${folder}package.json`, import.meta.url), "utf8")) as Manifest;
  return version;
}

/** Returns the rows of a table: medians with their quartiles, counts as they are. Series are left to the pictures. */
export function rowsOf(figures: Figures): Record<string, Record<string, string>> {
  const rowOf = (found: Figures[string]) =>
    Object.fromEntries(
      Object.entries(found).flatMap(([figure, value]) => (cell(value) ? [[figure, cell(value)]] : [])),
    );
  return Object.fromEntries(Object.entries(figures).map(([name, found]) => [name, rowOf(found)]));
}

function cell(value: Figures[string][string]): string {
  if (typeof value === "number") return String(value);
  const [low, median, high, ...rest] = value;
  if (typeof low !== "number" || typeof median !== "number" || rest.length > 0) return "";
  return `${median.toPrecision(3)} (${low.toPrecision(3)}–${Number(high).toPrecision(3)})`;
}

/** Says of each guard whether it holds. */
export function verdicts(guards: readonly Guard[], figures: Figures): { line: string; holds: boolean }[] {
  return guards.flatMap(({ client, figure, atLeast, atMost }) => {
    const found = figures[client]?.[figure];
    const value = typeof found === "object" ? Number(found[1]) : found;
    if (value === undefined) return [];
    const holds = value >= (atLeast ?? value) && value <= (atMost ?? value);
    const bound = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`;
    return [{ line: `${holds ? "holds" : "MISSED"}: ${client}, ${figure}: ${value}, ${bound}`, holds }];
  });
}

/** Returns the module that a checkout of our package publishes as an entry point, such as `.` or `./testing/node`. */
export function moduleOf(folder: string, entryPoint: string): string {
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  return join(folder, exports[entryPoint]?.import.default ?? "");
}

interface Manifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, { readonly import: { readonly default: string } }>>;
}
