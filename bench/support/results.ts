/** Results: figures as small JSON in `bench/results`, and as tables on the terminal. */

import { writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { type Client, type ClientName, clients, OURS } from "../clients.ts";
import { manifestOf } from "./manifest.ts";

/** The lower quartile, the median and the upper quartile. */
export type Spread = readonly [low: number, median: number, high: number];

/** The figures of one client: counts, spreads over its laps, or a series over the way of one lap. */
export type Found = Readonly<Record<string, number | Spread | readonly unknown[]>>;
export type Figures = Readonly<Record<string, Found>>;

/** A promise of a figure of our client, or of another row of the measure. */
export interface Guard {
  readonly client?: string;
  readonly figure: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** What the command line asks for: fewer rounds, and the checkouts of our package, each of them built. */
export interface Bench {
  readonly quick: boolean;
  readonly packages: readonly string[];
}

export interface Measure {
  readonly title: string;
  readonly guards?: readonly Guard[];
  run(bench: Bench): Promise<Figures>;
}

/** Returns the entrants of a measure: `name`, or `name @ folder` for our package of another checkout. */
export function entrants(names: readonly string[], { packages }: Bench): string[] {
  const ours = names.filter((name) => name.startsWith(OURS));
  return [...names, ...packages.slice(1).flatMap((folder) => ours.map((name) => `${name} @ ${folder}`))];
}

/** Returns the client of an entrant, and the checkout of our package that it is of. */
export function clientOf(entrant: string, packages: readonly string[]): { client: Client; folder: string } {
  const [name, folder = packages[0] ?? ""] = entrant.split(" @ ");
  return { client: clients[name as ClientName], folder }; // an entrant is made of a name
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const quantile = (share: number): number => {
    const at = (sorted.length - 1) * share;
    const [below = Number.NaN, above = below] = sorted.slice(Math.floor(at), Math.floor(at) + 2);
    return Number((below + (above - below) * (at % 1)).toPrecision(4));
  };
  return [quantile(0.25), quantile(0.5), quantile(0.75)];
}

/** Writes the figures of a measure, one client a line, with where and when they were measured. */
export function write(measure: string, figures: Figures): void {
  const names = Object.keys(figures).flatMap((name) => clients[name as ClientName]?.packages ?? []);
  const circumstances = {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    machine: `${process.platform} ${process.arch}, ${availableParallelism()} x ${cpus()[0]?.model ?? "unknown"}`,
    load: loadavg()[0],
    versions: Object.fromEntries([...new Set(names)].map((name) => [name, versionOf(name)])),
  };
  const lines = Object.entries(figures).map(([name, found]) => `    ${JSON.stringify(name)}: ${JSON.stringify(found)}`);
  const head = JSON.stringify(circumstances, null, 2).slice(0, -2);
  const file = new URL(`../results/${measure}.json`, import.meta.url);
  writeFileSync(file, `${head},\n  "clients": {\n${lines.join(",\n")}\n  }\n}\n`);
}

function versionOf(name: string): string {
  const folder = name === OURS ? "../../" : `../node_modules/${name}/`;
  return manifestOf(new URL(`${folder}package.json`, import.meta.url)).version;
}

/** Returns rows of a table: medians with their quartiles, and counts. Series are left to the pictures. */
export function rowsOf(figures: Figures): Record<string, Record<string, string>> {
  const rowOf = (found: Found): Record<string, string> => {
    const cells = Object.entries(found).map(([figure, value]) => [figure, cell(value)] as const);
    return Object.fromEntries(cells.filter(([, text]) => text !== ""));
  };
  return Object.fromEntries(Object.entries(figures).map(([name, found]) => [name, rowOf(found)]));
}

function cell(value: Found[string]): string {
  if (typeof value === "number") return String(value);
  const [low, median, high] = value.map((part) => Number(part).toPrecision(3));
  return value.length === 3 && typeof value[0] === "number" ? `${median} (${low}–${high})` : "";
}

/** Says of each guard whether it holds. */
export function verdicts(guards: readonly Guard[], figures: Figures): { line: string; holds: boolean }[] {
  return guards.map(({ client = OURS, figure, atLeast, atMost }) => {
    const found = figures[client]?.[figure];
    const value = typeof found === "object" ? Number(found[1]) : (found ?? Number.NaN);
    const holds = atMost === undefined ? value >= Number(atLeast) : value <= atMost;
    const bound = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`;
    return { line: `${holds ? "holds" : "MISSED"}: ${client}, ${figure}: ${value}, ${bound}`, holds };
  });
}
