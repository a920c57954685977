import * as z from "zod/v4/core";
import { type StandardSchema, standard } from "./standard-schema.ts";

// Of the core of zod, whose schemas have no methods: with those, and with zod's own checks of numbers and formats, a bundle has
// 1.8 kB more.

/** A schema for each field of a model, no more and no fewer. One that disagrees with its model does not compile. */
export type Fields<Model> = { readonly [Field in keyof Model]-?: z.$ZodType<Model[Field]> };

export const text: z.$ZodType<string> = new z.$ZodString({ type: "string" });

/** A value that a function accepts, in words for the message about another one. */
export function custom<Value>(words: string, accepts: (value: unknown) => boolean): z.$ZodType<Value> {
  const error: z.$ZodErrorMap = ({ input }) => must(words, input);
  return new z.$ZodCustom({ type: "custom", check: "custom", fn: accepts, error }) as z.$ZodType<Value>;
}

export function matching(words: string, pattern: RegExp): z.$ZodType<string> {
  return custom(words, (value) => typeof value === "string" && pattern.test(value));
}

export function optional<Value>(innerType: z.$ZodType<Value>): z.$ZodType<Value | undefined> {
  return new z.$ZodOptional({ type: "optional", innerType }) as z.$ZodType<Value | undefined>;
}

export function array<Item>(element: z.$ZodType<Item>): z.$ZodType<Item[]> {
  return new z.$ZodArray({ type: "array", element }) as z.$ZodType<Item[]>;
}

/** An object of which the members that are named alone are looked at. */
export function object<Model>(shape: Fields<Model>): z.$ZodType<Model> {
  return new z.$ZodObject({ type: "object", shape }) as z.$ZodType<Model>;
}

// zod's own wording is a locale, which is not bundled, and might quote the value.
function expectationOf({ code, expected = code, input }: z.$ZodRawIssue & { readonly expected?: string }): string {
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
export function validatorOf<Output>(schema: z.$ZodType<Output>): StandardSchema<Output> {
  return standard((value) => {
    const { success, error } = z.safeParse(schema, value, { error: expectationOf });
    return success ? { value: value as Output, issues: undefined } : { issues: error.issues };
  });
}
