import type { Emulator } from "../../emulator.ts";

/** One thing that the service holds, by what counts of it: no ids, numbers or times. */
export interface Thing {
  readonly kind: "issue" | "token";
  readonly fields: Readonly<Record<string, string>>;
}

/** The issues and the live tokens of an emulator. */
export function worldOf({ projects, issues, tokens }: Emulator): Thing[] {
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

/** Fields that differ between undisturbed runs, such as `issue.title`: only `"digits"` of them, or the `"whole"` value. */
export type Unsteady = ReadonlyMap<string, "digits" | "whole">;

const withoutDigits = (value: string): string => value.replaceAll(/\d+/g, "#");

/** Finds what differs between worlds that should be the same. */
export function unsteadyFields(worlds: readonly (readonly Thing[])[]): Unsteady {
  const unsteady = new Map<string, "digits" | "whole">();
  const names = new Set(
    worlds.flat().flatMap(({ kind, fields }) => Object.keys(fields).map((field) => `${kind}.${field}`)),
  );
  for (const name of names) {
    const [kind = "", field = ""] = name.split(".");
    const values = (world: readonly Thing[], read: (value: string) => string): string => {
      const own = world.filter((thing) => thing.kind === kind).map(({ fields }) => read(fields[field] ?? ""));
      return JSON.stringify(own.sort());
    };
    const areSame = (read: (value: string) => string): boolean =>
      new Set(worlds.map((world) => values(world, read))).size < 2;
    if (areSame(String)) continue;
    unsteady.set(name, areSame(withoutDigits) ? "digits" : "whole");
  }
  return unsteady;
}

/** The differences of a world from the one that should be, each in words. */
export interface Difference {
  readonly twice: readonly string[];
  readonly changed: readonly string[];
  readonly lost: readonly string[];
}

/** Compares which things there are, and how often. What is missing and what is new, of one kind, is a change. */
export function compareWorlds(expected: readonly Thing[], actual: readonly Thing[], unsteady: Unsteady): Difference {
  const keyOf = ({ kind, fields }: Thing): string => {
    const compared = Object.entries(fields).map(([field, value]) => {
      const how = unsteady.get(`${kind}.${field}`);
      return [field, how === "whole" ? "…" : how === "digits" ? withoutDigits(value) : value];
    });
    return JSON.stringify([kind, compared]);
  };
  const there = countBy(actual, keyOf);
  const due = countBy(expected, keyOf);
  const twice: string[] = [];
  const fresh: Thing[] = [];
  const missing: Thing[] = [];
  for (const [key, { thing, count }] of there) {
    const wanted = due.get(key)?.count ?? 0;
    if (wanted > 0 && count > wanted) twice.push(`${wordsOf(thing)} is there ${times(count)}, not ${times(wanted)}`);
    if (wanted === 0) fresh.push(...Array.from({ length: count }, () => thing));
  }
  for (const [key, { thing, count }] of due)
    missing.push(...Array.from({ length: Math.max(0, count - (there.get(key)?.count ?? 0)) }, () => thing));
  const changed: string[] = [];
  for (const thing of fresh) {
    const place = missing.findIndex(({ kind }) => kind === thing.kind);
    const [old] = place < 0 ? [] : missing.splice(place, 1);
    if (old === undefined) twice.push(`${wordsOf(thing)} is there, and should not be`);
    else changed.push(`${wordsOf(thing)} is there in place of ${wordsOf(old)}`);
  }
  return { twice, changed, lost: missing.map((thing) => `${wordsOf(thing)} is missing`) };
}

function countBy(
  things: readonly Thing[],
  keyOf: (thing: Thing) => string,
): Map<string, { thing: Thing; count: number }> {
  const counts = new Map<string, { thing: Thing; count: number }>();
  for (const thing of things) {
    const known = counts.get(keyOf(thing));
    if (known === undefined) counts.set(keyOf(thing), { thing, count: 1 });
    else known.count += 1;
  }
  return counts;
}

function times(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}

function wordsOf({ kind, fields }: Thing): string {
  if (kind === "token") return `the live token ${JSON.stringify(fields["name"])} (${fields["scopes"]})`;
  return `the issue ${JSON.stringify(fields["title"])} (${fields["type"]}, ${fields["status"]}) in ${fields["project"]}`;
}
