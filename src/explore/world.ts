import type { Emulator } from "../emulator/emulator.ts";
import { groupBy } from "./places.ts";

/** One thing that a run leaves, by what counts of it: no ids, numbers or times. */
export interface Thing {
  readonly kind: "issue" | "token" | `file ${string}`;
  readonly fields: Readonly<Record<string, string>>;
}

export function thingsOf({ projects, issues, tokens }: Emulator): Thing[] {
  const things: Thing[] = [];
  for (const project of projects.list()) {
    for (const { title, type, status } of issues.list(project.id))
      things.push({ kind: "issue", fields: { project: project.name, title, type, status } });
  }
  for (const { name, scopes, state } of tokens.list()) {
    if (state !== "active") continue;
    things.push({ kind: "token", fields: { name, scopes: [...scopes].sort().join(" ") } });
  }
  return things;
}

/** Fields that differ between undisturbed runs, such as `issue title`: only `"digits"` of them, or the `"whole"` value. */
export type Unsteady = ReadonlyMap<string, "digits" | "whole">;

const withoutDigits = (value: string): string => value.replaceAll(/\d+/g, "#");
const keyOf = (kind: string, field: string): string => `${kind} ${field}`;

export function unsteadyFields(worlds: readonly (readonly Thing[])[]): Unsteady {
  const unsteady = new Map<string, "digits" | "whole">();
  const all = worlds.flat().flatMap(({ kind, fields }) => Object.keys(fields).map((field) => ({ kind, field })));
  const groups = groupBy(all, (one) => keyOf(one.kind, one.field));
  for (const [{ kind, field } = { kind: "", field: "" }] of groups.values()) {
    const areSame = (read: (value: string) => string): boolean => {
      const valuesOf = (world: readonly Thing[]): string[] =>
        world.filter((thing) => thing.kind === kind).map(({ fields }) => read(fields[field] ?? ""));
      return new Set(worlds.map((world) => JSON.stringify(valuesOf(world).sort()))).size < 2;
    };
    if (!areSame(String)) unsteady.set(keyOf(kind, field), areSame(withoutDigits) ? "digits" : "whole");
  }
  return unsteady;
}

interface Difference {
  readonly twice: readonly string[];
  readonly changed: readonly string[];
  readonly lost: readonly string[];
}

/** Compares which things there are, and how often. What is new is a change, in place of what is missing of its kind. */
export function compareWorlds(expected: readonly Thing[], actual: readonly Thing[], unsteady: Unsteady): Difference {
  const comparedPart = ({ kind, fields }: Thing): string => {
    const compared = Object.entries(fields).map(([field, value]) => {
      const how = unsteady.get(keyOf(kind, field));
      return how === "whole" ? "" : how === "digits" ? withoutDigits(value) : value;
    });
    return JSON.stringify([kind, ...compared]);
  };
  const twice: string[] = [];
  const fresh: Thing[] = [];
  const missing: Thing[] = [];
  const tagged = [
    ...expected.map((thing) => ({ thing, isDue: true })),
    ...actual.map((thing) => ({ thing, isDue: false })),
  ];
  for (const group of groupBy(tagged, ({ thing }) => comparedPart(thing)).values()) {
    const due = group.filter(({ isDue }) => isDue).map(({ thing }) => thing);
    const there = group.filter(({ isDue }) => !isDue).map(({ thing }) => thing);
    const [thing] = there;
    if (thing !== undefined && due.length > 0 && there.length > due.length)
      twice.push(`${wordsOf(thing)} is there ${times(there.length)}, not ${times(due.length)}`);
    if (due.length === 0) fresh.push(...there);
    missing.push(...due.slice(there.length));
  }
  const changed: string[] = [];
  const olds = new Map<string, IterableIterator<Thing, undefined>>();
  for (const [kind, things] of groupBy(missing, ({ kind }) => kind)) olds.set(kind, things.values());
  for (const thing of fresh) {
    const { value: old } = olds.get(thing.kind)?.next() ?? {};
    changed.push(`${wordsOf(thing)} is there${old ? ` in place of ${wordsOf(old)}` : ", and should not be"}`);
  }
  const lost = [...olds.values()].flatMap((left) => [...left]);
  return { twice, changed, lost: lost.map((thing) => `${wordsOf(thing)} is missing`) };
}

function times(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}

export function wordsOf({ kind, fields }: Thing): string {
  const { name, scopes, title, type, status, project, text = "" } = fields;
  if (kind === "token") return `the live token ${JSON.stringify(name)} (${scopes})`;
  if (kind === "issue") return `the issue ${JSON.stringify(title)} (${type}, ${status}) in ${project}`;
  const shown = JSON.stringify(text);
  return `${kind}: ${shown.length > 100 ? `${shown.slice(0, 97)}…` : shown}`;
}
