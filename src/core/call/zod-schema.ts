import * as z from "zod/v4-mini";
import { type StandardSchema, standard } from "./standard-schema.ts";

/** A schema for each field of a model, no more and no fewer. One that disagrees with its model does not compile. */
export type Fields<Model> = { readonly [Field in keyof Model]-?: z.core.$ZodType<Model[Field]> };

// Texts are zod's. Numbers, patterns and timestamps are checks of ours: zod's own add 1.1 kB to a bundle.

/** A value that a function accepts, in words for the message about another one. */
export function custom<Value>(words: string, accepts: (value: unknown) => boolean): z.ZodMiniType<Value> {
  return z.custom<Value>(accepts, { error: ({ input }) => must(words, input) });
}

export function matching(words: string, pattern: RegExp): z.ZodMiniType<string> {
  return custom(words, (value) => typeof value === "string" && pattern.test(value));
}

// zod's own wording is a locale, which is not bundled, and might quote the value.
function expectationOf({ code, expected = code, input }: z.core.$ZodRawIssue & { readonly expected?: string }): string {
  return must(withArticle(expected), input);
}

function must(words: string, value: unknown): string {
  return `must be ${words}, got ${kindOf(value)}`;
}

function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (value === "") return "an empty string";
  return withArticle(Array.isArray(value) ? "array" : typeof value);
}

function withArticle(noun: string): string {
  return `${/^[ao]/.test(noun) ? "an" : "a"} ${noun}`;
}

/**
 * A schema of zod as the client uses it: it validates synchronously, with messages that never quote a value. zod's copy of the
 * value would lack the members that the schema does not name, so the value itself is the output.
 */
export function validatorOf<Output>(schema: z.ZodMiniType<Output>): StandardSchema<Output> {
  return standard((value) => {
    const { success, error } = z.safeParse(schema, value, { error: expectationOf });
    return success ? { value: value as Output, issues: undefined } : { issues: error.issues };
  });
}
