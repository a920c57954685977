/** What every measure is given, and what it gives. */

import { table } from "../support/report.ts";
import type { Spread } from "../support/statistics.ts";
import { OTHER_SERVICES, OURS } from "./contenders.ts";

export interface Bench {
  readonly quick: boolean;
  /** The checkout whose `dist` is measured. */
  readonly package: string;
  /** Other checkouts to measure beside it. */
  readonly others: readonly string[];
  /** Only these, where there are any, beside what they are compared with. */
  readonly contenders: readonly string[];
  /** Says on the way what is being measured. */
  progress(what: string): void;
}

export interface Section {
  readonly name: string;
  readonly title: string;
  /** Under which conditions, in a sentence or two. */
  readonly note: string;
  readonly heading: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The figures of the table, unrounded, by contender. */
  readonly figures: Readonly<Record<string, unknown>>;
  readonly targets: readonly Target[];
}

/** What the client is held to. */
export interface Target {
  readonly what: string;
  readonly value: number;
  readonly atMost?: number;
  readonly atLeast?: number;
}

export interface Measure {
  readonly name: string;
  run(bench: Bench): Promise<readonly Section[]>;
}

export function isMet({
  value,
  atMost = Number.POSITIVE_INFINITY,
  atLeast = Number.NEGATIVE_INFINITY,
}: Target): boolean {
  return value <= atMost && value >= atLeast;
}

export function describe(target: Target): string {
  const bound = target.atMost === undefined ? `at least ${target.atLeast}` : `at most ${target.atMost}`;
  return `${isMet(target) ? "met" : "MISSED"}: ${target.what} ${round(target.value)}, ${bound}`;
}

export function draw(section: Section): string {
  const targets = section.targets.map((target) => `  ${describe(target)}`);
  return [`\n${section.title}`, section.note, "", table(section.heading, section.rows), ...targets].join("\n");
}

export const BUSY =
  "The machine was busy before the run: wall times, speeds among them, say little; times of the thread and CPU hold.";

/** Whether a machine had so much else to do before a run that wall times, and what is made of them, say little. */
export function isBusy(load: number): boolean {
  return load > 1;
}

/** Three digits that matter. */
export function round(value: number): string {
  if (Number.isNaN(value)) return "–";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)));
  return value.toFixed(Math.min(digits, 3));
}

/** A median, and the quartiles on its sides. */
export function spread({ median, low, high }: Spread): string {
  return `${round(median)} (${round(low)}–${round(high)})`;
}

/**
 * Who takes part: of these names those that are asked for, a quick run without the clients of other services; and builds
 * of our package in other checkouts.
 */
export function entrants(names: readonly string[], bench: Bench, always: readonly string[]): string[] {
  const { contenders, others, quick } = bench;
  const isAsked = (name: string): boolean =>
    contenders.length === 0 ? !quick || !OTHER_SERVICES.includes(name) : contenders.includes(name);
  const asked = names.filter((name) => isAsked(name) || always.includes(name));
  const ours = asked.filter((name) => name.startsWith(OURS));
  return [...asked, ...others.flatMap((folder) => ours.map((name) => `${name} @ ${folder}`))];
}
