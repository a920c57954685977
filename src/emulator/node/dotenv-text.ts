import { isDeepStrictEqual, parseEnv } from "node:util";
import { isLoopback } from "../../core/wire/service.ts";

const LOCAL_URL = /^http:\/\/(\[::1\]|[\w.-]+)(?::\d+)?(?:\/[^\s?#]*)?$/;

/** The two variables, each with the test of a value that the emulator wrote itself. */
const WRITTEN = {
  PROJECT_AUTOMATION_BASE_URL: (value: string) => isLoopback(LOCAL_URL.exec(value)?.[1] ?? ""),
  PROJECT_AUTOMATION_TOKEN: (value: string) => /^emu_[\w-]+$/.test(value),
};
type Name = keyof typeof WRITTEN;
const NAMES = Object.keys(WRITTEN) as Name[]; // it has no others

/** The values of the two variables. They need no quotes. */
export type Variables = Readonly<Record<Name, string>>;

const LEFT_AS_IT_IS = "; the file is left as it is: name another file";

/** Editors of Windows begin a file with it. Node takes it for a part of the first name. */
const BYTE_ORDER_MARK = "\ufeff";

export function linesOf(variables: Partial<Variables>, end: string = "\n"): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}${end}`)
    .join("");
}

/**
 * Sets the two variables in the text of a file for `node --env-file`. A value that the emulator wrote itself is replaced in
 * its place, and an empty one is filled; every other character stays. The parser of Node finds the values, and confirms
 * that no other variable has changed.
 *
 * @throws Error if one of the two has another value, or if there is no place for a line
 */
export function withVariables(text: string, variables: Variables): string {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  const before = text.slice(mark.length);
  const foreign = NAMES.filter((name) => isForeign(before, name));
  if (foreign.length > 0) {
    throw new Error(`it has a value of ${foreign.join(" and ")} that the emulator did not write${LEFT_AS_IT_IS}`);
  }
  const replaced = NAMES.reduce((edited, name) => replaceValues(edited, name, variables[name]), before);
  const found = parseEnv(mark + replaced);
  const missing = Object.fromEntries(Object.entries(variables).filter(([name, value]) => found[name] !== value));
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = linesOf(missing, end);
  const gap = lines === "" || mark + replaced === "" || replaced.endsWith("\n") ? "" : end;
  // A blank value or an open quote at the end takes the next line into itself.
  const after = [`${replaced}${gap}${lines}`, `${replaced}${gap}#${end}${lines}`, `${lines}${replaced}`].find(
    (edited) => hasValues(mark + edited, variables) && isDeepStrictEqual(othersIn(edited), othersIn(before)),
  );
  if (after === undefined) throw new Error(`it has no place for another line${LEFT_AS_IT_IS}`);
  return mark + after;
}

/** A value that Node finds, and where it begins in the text: behind its quote, if it has one. */
interface Value {
  readonly value: string;
  readonly start: number | undefined;
}

/** Every value of a variable, also those that a later one replaces. */
function valuesOf(text: string, name: Name): Value[] {
  let other = "_";
  while (text.includes(other)) other += "_";
  const values: Value[] = [];
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    // Under another name it is found alone. What stands in a comment, a value or a longer name is not found.
    const value = parseEnv(text.slice(0, at) + other + text.slice(at + name.length))[other];
    if (value !== undefined) values.push({ value, start: startOf(value, text, text.indexOf("=", at) + 1) });
  }
  return values;
}

function startOf(value: string, text: string, from: number): number | undefined {
  const behind = text.slice(from);
  if (value === "") return from + (/^[ \t\r]*(["'`])(?=\r*\1)/.exec(behind)?.[0].length ?? 0);
  const start = from + (/^[ \t\r\n]*["'`]?/.exec(behind)?.[0].length ?? 0);
  return text.startsWith(value, start) ? start : undefined;
}

function isForeign(text: string, name: Name): boolean {
  const isOwn = ({ value, start }: Value): boolean => value === "" || (start !== undefined && WRITTEN[name](value));
  return !valuesOf(text, name).every(isOwn);
}

function replaceValues(text: string, name: Name, wanted: string): string {
  return valuesOf(text, name).reduceRight(
    (edited, { value, start = 0 }) => edited.slice(0, start) + wanted + edited.slice(start + value.length),
    text,
  );
}

function hasValues(text: string, variables: Variables): boolean {
  const found = parseEnv(text);
  return NAMES.every((name) => {
    const all = [found[name], ...valuesOf(text, name).map(({ value }) => value)];
    return all.every((value) => value === variables[name]);
  });
}

function othersIn(text: string): Record<string, string | undefined> {
  const { PROJECT_AUTOMATION_BASE_URL: _baseUrl, PROJECT_AUTOMATION_TOKEN: _token, ...others } = parseEnv(text);
  return others;
}
