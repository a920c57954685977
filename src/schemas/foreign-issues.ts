import type { ValidationIssue } from "../errors/automation-error.ts";
import { OWN_VENDOR, type StandardIssue, type StandardSchema } from "./standard-schema.ts";

/** The most issues that are collected: a response that does not fit at all may have one for each of its values. */
export const MAX_ISSUES = 100;
const HIDDEN = "[value]";
/** What stands for messages that are too much to look through. */
const UNSPECIFIC = "not as expected";
/** The longest message that is shown. A longer one quotes a value, and a part of it could be a part of a secret. */
const LONGEST_MESSAGE = 1_000;
/** A longer key is not shown, and a path no further than this: both come from the response. */
const LONGEST_KEY = 200;
const LONGEST_PATH = 100;
/** How many characters of messages are compared with strings of the response, for all of those strings together. */
const MAX_COMPARED = 20_000_000;
/** Shorter strings occur in ordinary words, and are no secret. */
const SHORTEST_HIDDEN = 4;

/**
 * The issues of any schema as ours. Many libraries quote the received value in their messages, and a
 * response may hold a one-time secret: whatever string of the response a message repeats is taken out of it.
 */
export function issuesOf(
  schema: StandardSchema,
  issues: readonly StandardIssue[],
  received: unknown,
): readonly ValidationIssue[] {
  // Our own never quote a value, and say only what a response may say as well.
  if (schema["~standard"].vendor === OWN_VENDOR) return issues as readonly ValidationIssue[]; // as our validators make them
  const listed = issues.slice(0, MAX_ISSUES).map(({ path = [], message }) => ({
    // A path may be an array of a class of its own, whose `map` returns another of these.
    path: Array.from(path, keyOf).slice(0, LONGEST_PATH),
    message: message.length > LONGEST_MESSAGE ? UNSPECIFIC : message,
  }));
  const hide = hiderOf(listed.map(({ message }) => message).join("\n"), received);
  const shown = listed.map(({ path, message }) => ({ path, message: hide(message) }));
  return issues.length > MAX_ISSUES ? [...shown, andMore(issues.length - MAX_ISSUES)] : shown;
}

/** The issue that stands for those that are not listed. */
export function andMore(count: number): ValidationIssue {
  return { path: [], message: `${count} more issues are not listed` };
}

function keyOf(member: PropertyKey | { readonly key: PropertyKey }): string | number {
  const key = typeof member === "object" ? member.key : member;
  if (typeof key === "string" && key.length > LONGEST_KEY) return "[key]";
  return typeof key === "symbol" ? String(key) : key;
}

/** Takes the strings of a response out of messages, all of which `said` holds. */
function hiderOf(said: string, received: unknown): (message: string) => string {
  const strings = stringsOf(received);
  if (strings.length * said.length > MAX_COMPARED) return () => UNSPECIFIC;
  const repeated = strings.filter((text) => said.includes(text)).sort((a, b) => b.length - a.length);
  return (message) => repeated.reduce((text, value) => text.replaceAll(value, HIDDEN), message);
}

/** Every string in parsed JSON that is long enough to be told from a word, also as JSON spells it. */
export function stringsOf(root: unknown): string[] {
  const found = new Set<string>();
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === "string" && value.length >= SHORTEST_HIDDEN) {
      found.add(value);
      found.add(JSON.stringify(value).slice(1, -1));
    } else if (typeof value === "object" && value !== null) {
      for (const member of Object.values(value)) pending.push(member);
    }
  }
  return [...found];
}
