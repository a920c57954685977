import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ResponseValidationError } from "../../../src/index.ts";
import type { Validator } from "../../../src/schemas/index.ts";
import {
  CreatedTokenSchema,
  IssueSchema,
  ProjectSchema,
  pageOf,
  SessionSchema,
  TokenSchema,
} from "../../../src/schemas/index.ts";

const token = { id: "t", name: "n", key_id: "k", scopes: ["a:b"], expires_at: "2030-01-01T00:00:00Z" };

/** Each with a record that fits, and its fields with what does not. */
const SCHEMAS: Readonly<
  Record<string, readonly [Validator<unknown>, Record<string, unknown>, Record<string, readonly unknown[]>]>
> = {
  ProjectSchema: [
    ProjectSchema,
    { id: "p", name: "n" },
    { id: [undefined, null, 5, {}], name: [undefined, null, 5, []] },
  ],
  IssueSchema: [
    IssueSchema,
    { number: 12, title: "t", status: "open", type: "bug" },
    {
      number: [undefined, null, "12", 1.5, Number.POSITIVE_INFINITY, Number.NaN, 2 ** 53],
      title: [undefined, 5],
      status: [undefined, null],
      type: [5, {}],
    },
  ],
  SessionSchema: [SessionSchema, { id: "s", state: "on" }, { id: [undefined, 5], state: [undefined, null, true] }],
  TokenSchema: [
    TokenSchema,
    token,
    {
      id: [undefined, 5],
      name: [null],
      key_id: [undefined],
      scopes: [undefined, "a", [1], {}],
      expires_at: [undefined, null, 123, "never", ""],
    },
  ],
  CreatedTokenSchema: [
    CreatedTokenSchema,
    { ...token, plaintext: "pat_k_s" },
    { plaintext: [undefined, null, "", 5], expires_at: ["2030-02-30T00:00:00Z"] },
  ],
};

describe.each(Object.entries(SCHEMAS))("%s", (_, [schema, good, bad]) => {
  test("hands back what fits as it is, with whatever else is in it", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (extra) => {
        const record = { ...extra, ...good };
        expect(schema.parse(record)).toEqual(record);
        expect(schema.safeParse(record)).toEqual({ success: true, data: record });
      }),
    );
  });

  test.each(Object.entries(bad).flatMap(([field, values]) => values.map((value) => ({ field, value }))))(
    "$field of $value is told by its path, without the value",
    ({ field, value }) => {
      const result = schema.safeParse({ ...good, [field]: value });
      if (result.success) return expect.fail("it fits");
      expect(result.error).toBeInstanceOf(ResponseValidationError);
      expect(result.error.issues[0]?.path[0]).toBe(field);
      expect(result.error.message).toContain(field);
      if (typeof value === "string" && value.length > 2) expect(result.error.message).not.toContain(value);
      expect(() => schema.parse({ ...good, [field]: value })).toThrow(ResponseValidationError);
    },
  );

  test.each(Object.keys(bad).filter((field) => field !== "type"))("without %s it does not fit", (field) => {
    const { [field]: _left, ...rest } = good;
    const result = schema.safeParse(rest);
    if (result.success) return expect.fail("it fits");
    expect(result.error.issues.map(({ path }) => path)).toEqual([[field]]);
  });

  test.each([undefined, null, 5, "x", true, [], [good], () => {}, Symbol("s")])("%o does not fit", (value) => {
    expect(schema.safeParse(value)).toMatchObject({ success: false });
  });

  test("is a Standard Schema", async () => {
    const standard = schema["~standard"];
    expect(standard).toMatchObject({ version: 1, vendor: "project-automation" });
    expect(await standard.validate(good)).toEqual({ value: good });
    expect((await standard.validate(5)).issues?.length).toBeGreaterThan(0);
  });
});

test("an issue says what was expected", () => {
  const issuesOf = (schema: Validator<unknown>, value: unknown) => {
    const result = schema.safeParse(value);
    return result.success ? [] : result.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  };
  expect(issuesOf(IssueSchema, { number: 1.5, title: 5, status: "open", type: null })).toEqual([
    "number: expected a safe integer",
    "title: expected string",
    "type: expected string",
  ]);
  expect(issuesOf(CreatedTokenSchema, { ...token, scopes: ["a", 5], expires_at: "soon", plaintext: "" })).toEqual([
    "scopes.1: expected string",
    "expires_at: expected an ISO 8601 timestamp",
    "plaintext: expected a non-empty string",
  ]);
  expect(issuesOf(ProjectSchema, [])).toEqual([": expected object"]);
});

describe("expires_at", () => {
  test.each([
    "2030-01-01T00:00:00Z",
    "2030-01-01T00:00:00.1Z",
    "2030-01-01T00:00:00.123456789Z",
    "2030-01-01T00:00:00+00:00",
    "2030-01-01T00:00:00.5+02:00",
    "2028-02-29T23:59:59Z",
  ])("%s is accepted and stays as it is", (expires_at) => {
    expect(TokenSchema.parse({ ...token, expires_at }).expires_at).toBe(expires_at);
  });

  test.each([
    ...[
      "never",
      "",
      "2030-02-30T00:00:00Z",
      "2030-02-29T00:00:00Z",
      "2030-13-01T00:00:00Z",
      "2030-01-01T24:00:01Z",
      "2030-01-01T00:60:00Z",
      "2030-01-00T00:00:00Z",
      "2030-01-32T00:00:00Z",
      "2030-01-01T00:00:60Z",
      "2030-01-01T00:00:00z",
      "2030-01-01T00:00:00+24:00",
      "2030-01-01T00:00:00Z\n",
    ],
    ...["2030-01-01", "01/01/2030", "2030-01-01 00:00:00", "1893456000", "2030-01-01T00:00:00"],
  ])("%j is not", (expires_at) => {
    expect(TokenSchema.safeParse({ ...token, expires_at }).success).toBe(false);
  });
});

describe("pageOf", () => {
  const page = { data: [{ id: "a", name: "A", extra: 1 }], next_cursor: "c", more: { x: 1 } };

  test("hands back the page with all that is in it", () => {
    expect(pageOf(ProjectSchema).parse(page)).toEqual(page);
    expect(pageOf(ProjectSchema).parse({ data: [], next_cursor: null })).toEqual({ data: [], next_cursor: null });
  });

  test.each([undefined, "", 0, false, {}, []])("next_cursor of %o does not fit", (next_cursor) => {
    const result = pageOf(ProjectSchema).safeParse({ ...page, next_cursor });
    expect(result).toMatchObject({ success: false });
  });

  test("an item that does not fit is told with its index", () => {
    const result = pageOf(ProjectSchema).safeParse({ ...page, data: [...page.data, { id: 5, name: "x" }] });
    if (result.success) return expect.fail("it fits");
    expect(result.error.issues).toEqual([{ path: ["data", 1, "id"], message: "expected string" }]);
  });

  test("a thousand items that do not fit make a message that can be read", () => {
    const result = pageOf(ProjectSchema).safeParse({ data: Array.from({ length: 1_000 }, () => 5), next_cursor: null });
    if (result.success) return expect.fail("it fits");
    expect(result.error.issues).toHaveLength(1_000);
    expect(result.error.message.length).toBeLessThan(500);
    expect(result.error.message).toContain("995 more");
  });

  test("an asynchronous schema is told for what it is, and leaves no unhandled rejection", async () => {
    const schema = {
      "~standard": { version: 1, vendor: "t", validate: async () => Promise.reject(new Error("x")) },
    } as const;
    const result = pageOf(schema).safeParse(page);
    if (result.success) return expect.fail("it fits");
    expect(result.error.message).toContain("asynchronous");
    await new Promise((resolve) => setImmediate(resolve));
  });
});
