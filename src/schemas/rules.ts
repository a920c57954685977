import type * as z from "zod/mini";

/**
 * What is asked of a value beyond its type; a check for a zod schema. (zod's own checks for the same few rules would be a
 * quarter of all that is bundled of zod.)
 */
type Rule<Value> = z.core.CheckFn<Value>;

function rule<Value>(expected: string, fits: (value: Value) => boolean): Rule<Value> {
  return ({ value, issues }) => {
    if (!fits(value)) issues.push({ code: "invalid_type", expected, input: value });
  };
}

export const integer: Rule<unknown> = rule("a safe integer", Number.isSafeInteger);

export const nonEmpty: Rule<string> = rule("a non-empty string", (text) => text !== "");

/** A lone surrogate has no UTF-8, so it could not be sent back. (With the flag, the halves of a pair do not match.) */
export const wellFormed: Rule<string> = rule("well-formed Unicode", (text) => !/\p{Surrogate}/u.test(text));

/** What a token may consist of, which is sent in a header. */
export const visibleAscii: Rule<string> = rule("visible ASCII without white space", (text) => /^[!-~]+$/.test(text));

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** ISO 8601 with `Z` or an offset, of a day that there is. */
export const timestamp: Rule<string> = rule("an ISO 8601 timestamp", (text) => {
  const day = TIMESTAMP.exec(text)?.[1];
  // Some platforms take 30 February for 2 March, others for no date at all.
  return day !== undefined && new Date(day).toJSON()?.slice(0, 10) === day;
});
