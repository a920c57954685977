import fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod/mini";
import { glanceOf } from "../../../src/schemas/glance.ts";

const SHAPES = {
  "a flat record": z.object({ id: z.string(), name: z.string() }),
  "what is checked beyond its type": z.object({ id: z.string().check(z.minLength(3)) }),
  "records in a list": z.object({ data: z.array(z.object({ id: z.string() })), next: z.nullable(z.string()) }),
  "what may be left out": z.object({ id: z.optional(z.string()), rest: z.unknown() }),
  "a list of words": z.array(z.string()),
};

const leaf = fc.oneof(fc.string(), fc.constantFrom(null, undefined, 0, true, "abc"));
const record = fc.dictionary(fc.constantFrom("id", "name", "next", "rest", "more"), leaf);
const value = fc.oneof(
  leaf,
  record,
  fc.array(fc.oneof(leaf, record)),
  fc.record({ data: fc.array(fc.oneof(record, leaf)), next: leaf }, { requiredKeys: [] }),
  fc.object(),
);

test.each(Object.entries(SHAPES))("%s: a glance lets nothing pass that zod would not", (_, shape) => {
  const fits = glanceOf(shape);
  fc.assert(
    fc.property(value, (given) => {
      if (fits(given)) expect(z.safeParse(shape, given).success).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ["a flat record", { id: "a", name: "b", more: 1 }],
  ["what is checked beyond its type", { id: "abc" }],
  ["records in a list", { data: [{ id: "a" }, { id: "b", more: [] }], next: null }],
  ["what may be left out", { id: "a", rest: 1 }],
  ["a list of words", ["a", "b"]],
] as const)("%s: what is right is seen to be right", (name, given) => {
  expect(glanceOf(SHAPES[name])(given)).toBe(true);
});

test("it is no list that is asked for fields, and no record that is asked for items", () => {
  expect(glanceOf(SHAPES["what may be left out"])([])).toBe(false);
  expect(glanceOf(SHAPES["a list of words"])({ length: 0 })).toBe(false);
});

test("a list with holes has no words there", () => {
  expect(glanceOf(SHAPES["a list of words"])(new Array(2))).toBe(false);
});
