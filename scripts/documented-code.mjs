/** What the documents speak of by name, read out of the sources. */
import { existsSync, readFileSync } from "node:fs";

const read = (file) => readFileSync(file, "utf8");
const matches = (text, what) => [...text.matchAll(what)];
const between = (file, start, end) => {
  const text = read(file);
  const from = text.indexOf(start);
  if (from < 0) throw new Error(`${file} has no ${start}`);
  return text.slice(from, text.indexOf(end, from));
};
const literals = (text) => matches(text, /"(\w+)"/g).map(([, value]) => value);

/** Kinds of errors, with their classes. */
export const errorClasses = new Map(
  ["classes", "journal-error"]
    .flatMap((file) =>
      matches(read(`src/core/errors/${file}.ts`), /^export class (\w+) [^}]*?\bkinds: [^=]*= \[\s*"(\w+)"/gm),
    )
    .map(([, name, kind]) => [kind, name]),
);

/** Types of events. */
export const eventTypes = matches(read("src/core/events.ts"), /readonly type: "(\w+)"/g).map(([, type]) => type);

/** What an error says became of its request. */
export const outcomes = literals(between("src/core/errors/automation-error.ts", "export type Outcome", ";"));

const defaults = [
  between("src/core/call/settings.ts", "const DEFAULT_RETRY", "};"),
  between("src/core/call/decide-retry.ts", "const DEFAULT_DELAYS", "};"),
];

/** Retry options and their defaults, as they stand in the source. */
export const retryDefaults = new Map(
  defaults
    .flatMap((values) => matches(values, /^ {2}(\w+): (\S+),$/gm))
    .map(([, option, value]) => [option, value.replaceAll("_", "")]),
);

/** The source file of an entry point of the package, such as `./testing`. */
export function sourceOf(entryPoint) {
  const name = entryPoint.replace(/^\.\/?/, "");
  const path = `src/${{ "": "client/", schemas: "service/" }[name] ?? ""}${name}`.replace(/\/$/, "");
  return [`${path}.ts`, `${path}/index.ts`].find((file) => existsSync(file));
}

/** What an entry point exports, types included. */
export function exportsOf(entryPoint) {
  const text = read(sourceOf(entryPoint));
  const listed = matches(text, /^export (?:type )?\{(.*?)\}/gms).flatMap(([, names]) =>
    names.split(",").map((name) => name.trim().replace(/^type /, "")),
  );
  const declared = matches(text, /^export (?:async )?(?:function|class|const|interface|type) (\w+)/gm);
  return new Set([...listed, ...declared.map(([, name]) => name)].filter(Boolean));
}
