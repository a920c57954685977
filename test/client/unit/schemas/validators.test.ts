import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import type { StandardResult, StandardSchema } from "../../../../src/core/call/standard-schema.ts";
import { type Page, pageEnvelopeValidator, pageValidator } from "../../../../src/core/paging/page.ts";
import type { Project } from "../../../../src/service/models.ts";
import { projectPageValidator } from "../../../../src/service/schemas/validators.ts";

const page = { data: [{ id: "a", name: "A", extra: 1 }], next_cursor: "c", more: { x: 1 } };

const validate = async <Item>(item: StandardSchema<Item>, value: unknown): Promise<StandardResult<Page<Item>>> =>
  pageValidator(item)["~standard"].validate(value);
const validateProjects = async (value: unknown): Promise<StandardResult<Page<Project>>> =>
  projectPageValidator["~standard"].validate(value);

/** A schema that rejects or accepts every item, and counts the items that it validated. */
function counting(isRight: boolean, isAsynchronous: boolean): { schema: StandardSchema<unknown>; count: () => number } {
  let asked = 0;
  const result = (value: unknown) => (isRight ? { value } : { issues: [{ message: "wrong" }] });
  const check = (value: unknown) => {
    asked += 1;
    return isAsynchronous ? Promise.resolve(result(value)) : result(value);
  };
  return { schema: { "~standard": { version: 1, vendor: "test", validate: check } }, count: () => asked };
}

test("a page is returned with all its fields", async () => {
  expect(await validateProjects(page)).toEqual({ value: page });
  const last = { data: [], next_cursor: null };
  expect(await validateProjects(last)).toEqual({ value: last });
});

test("items are the output of their schema", async () => {
  const schema = z.pipe(
    z.looseObject({ id: z.string() }),
    z.transform(({ id }) => id),
  );
  expect(await validate(schema, page)).toMatchObject({ value: { data: ["a"], next_cursor: "c" } });
});

test.each([undefined, "", 0, false, {}])("next_cursor of %o does not fit", async (next_cursor) => {
  expect((await validateProjects({ ...page, next_cursor })).issues).toMatchObject([{ path: ["next_cursor"] }]);
});

test("an item that does not fit is named by its index", async () => {
  const { issues } = await validateProjects({ ...page, data: [...page.data, { id: 5, name: "x" }] });
  expect(issues).toMatchObject([{ path: ["data", 1, "id"], message: "must be a string, got a number" }]);
});

describe.each([
  { kind: "synchronous", isAsynchronous: false },
  { kind: "asynchronous", isAsynchronous: true },
])("with a schema that is $kind", ({ isAsynchronous }) => {
  test("the issues of every item are named", async () => {
    const { schema } = counting(false, isAsynchronous);
    const { issues } = await validate(schema, { data: Array(300).fill(5), next_cursor: null });
    expect(issues).toHaveLength(300);
    expect(issues?.at(-1)).toEqual({ path: ["data", 299], message: "wrong" });
  });

  test("every item is looked at", async () => {
    const { schema, count } = counting(true, isAsynchronous);
    expect((await validate(schema, { data: Array(5_000).fill(5), next_cursor: null })).issues).toBeUndefined();
    expect(count()).toBe(5_000);
  });
});

test("an item that its schema refuses without an issue makes the page invalid", async () => {
  const refusal = { issues: [] };
  const schema: StandardSchema<unknown> = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => (typeof value === "string" ? refusal : { value }),
    },
  };
  expect(await validate(schema, { data: [1, "refused", 2], next_cursor: null })).toEqual(refusal);
});

test("a page rejects with the error of its schema", async () => {
  const schema: StandardSchema<unknown> = {
    "~standard": { version: 1, vendor: "test", validate: () => Promise.reject(new Error("no")) },
  };
  await expect(validate(schema, page)).rejects.toThrow("no");
});

test("the envelope alone takes any items", async () => {
  const check = async (value: unknown) => (await pageEnvelopeValidator["~standard"].validate(value)).issues;
  expect(await check({ data: [1, null, "x"], next_cursor: null, more: 1 })).toBeUndefined();
  expect(await check({ data: {}, next_cursor: null })).toMatchObject([
    { path: ["data"], message: "must be an array, got an object" },
  ]);
});
