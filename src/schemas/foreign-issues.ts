import type { ValidationIssue } from "../errors/automation-error.ts";
import { OWN_VENDOR, type StandardIssue, type StandardSchema } from "./standard-schema.ts";

/** The most issues that are collected: a response that does not fit at all may have one for each of its values. */
export const MAX_ISSUES = 100;
const HIDDEN = "[value]";
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
  const shown = issues.slice(0, MAX_ISSUES);
  const said = shown.map(({ message }) => message).join("\n");
  const strings = stringsOf(received)
    .filter((text) => said.includes(text))
    .sort((a, b) => b.length - a.length);
  return shown.map(({ message, path = [] }) => ({
    // A path may be an array of a class of its own, whose `map` gives another of these.
    path: Array.from(path, (member) => {
      const key = typeof member === "object" ? member.key : member;
      return typeof key === "symbol" ? String(key) : key;
    }),
    message: strings.reduce((text, value) => text.replaceAll(value, HIDDEN), message),
  }));
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
