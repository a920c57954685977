import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import type { StandardSchema } from "../../../../src/core/call/standard-schema.ts";
import { validatorOf } from "../../../../src/core/call/zod-schema.ts";
import { Redactor } from "../../../../src/core/secrets/redact.ts";
import {
  CreatedTokenSchema,
  IssueSchema,
  ProjectSchema,
  pageOf,
  SessionSchema,
  TokenSchema,
} from "../../../../src/service/schemas/index.ts";
import {
  createdTokenValidator,
  issueValidator,
  projectPageValidator,
  sessionPageValidator,
  sessionValidator,
} from "../../../../src/service/schemas/validators.ts";

const token = { id: "t", name: "n", key_id: "k", scopes: ["a:b"], expires_at: "2030-01-01T00:00:00Z" };

interface Case {
  readonly schema: z.ZodMiniType;
  readonly validator: StandardSchema;
  /** A valid record. */
  readonly good: Readonly<Record<string, unknown>>;
  /** Its fields, with invalid values. */
  readonly bad: Readonly<Record<string, readonly unknown[]>>;
}

const CASES: Readonly<Record<string, Case>> = {
  project: {
    schema: ProjectSchema,
    validator: validatorOf(ProjectSchema),
    good: { id: "p", name: "n" },
    bad: { id: [undefined, null, 5, {}], name: [undefined, null, 5, []] },
  },
  issue: {
    schema: IssueSchema,
    validator: issueValidator,
    good: { number: 12, title: "t", status: "open", type: "bug" },
    bad: {
      number: [undefined, null, "12", 1.5, Number.POSITIVE_INFINITY, Number.NaN, 2 ** 53, -(2 ** 53)],
      title: [undefined, 5],
      status: [undefined, null],
      type: [5, {}],
    },
  },
  session: {
    schema: SessionSchema,
    validator: sessionValidator,
    good: { id: "s", state: "on" },
    bad: { id: [undefined, 5], state: [undefined, null, true] },
  },
  token: {
    schema: TokenSchema,
    validator: validatorOf(TokenSchema),
    good: token,
    bad: {
      id: [undefined, 5],
      name: [null],
      key_id: [undefined],
      scopes: [undefined, "a", [1], {}],
      expires_at: [undefined, null, 123, "never", ""],
    },
  },
  "created token": {
    schema: CreatedTokenSchema,
    validator: createdTokenValidator,
    good: { ...token, plaintext: "pat_k_s" },
    bad: { plaintext: [undefined, null, "", 5], expires_at: ["2030-02-30T00:00:00Z"] },
  },
};

async function issuesOf(validator: StandardSchema, value: unknown): Promise<string[]> {
  const { issues = [] } = await validator["~standard"].validate(value);
  return issues.map(({ path = [], message }) => `${path.join(".")}: ${message}`);
}

describe.each(Object.entries(CASES))("a %s", (_, { schema, validator, good, bad }) => {
  test("that fits is handed over with all its other fields", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(
          fc.string().filter((key) => key !== "__proto__"),
          fc.jsonValue(),
        ),
        async (extra) => {
          const record = { ...extra, ...good };
          expect(z.parse(schema, record)).toEqual(record);
          expect(await validator["~standard"].validate(record)).toEqual({ value: record });
        },
      ),
    );
  });

  test.each(Object.entries(bad).flatMap(([field, values]) => values.map((value) => ({ field, value }))))(
    "with $field of $value does not fit, which is said with the path and without the value",
    async ({ field, value }) => {
      const [first = "", ...more] = await issuesOf(validator, { ...good, [field]: value });
      expect(more).toEqual([]);
      expect(first).toMatch(new RegExp(`^${field}(\\.0)?: must be `));
      if (typeof value === "string" && value.length > 2) expect(first).not.toContain(value);
      expect(z.safeParse(schema, { ...good, [field]: value }).error?.issues[0]?.path[0]).toBe(field);
    },
  );

  test.each(Object.keys(bad).filter((field) => field !== "type"))("without %s does not fit", async (field) => {
    const { [field]: _left, ...rest } = good;
    const { issues = [] } = await validator["~standard"].validate(rest);
    expect(issues.map(({ path }) => path)).toEqual([[field]]);
  });

  test.each([undefined, null, 5, "x", true, [], [good], () => {}, Symbol("s")])("is not %o", async (value) => {
    const [issue = "", ...others] = await issuesOf(validator, value);
    expect([issue.replace(/, got [a-z ]+$/, ""), others]).toEqual([": must be an object", []]);
    expect(z.safeParse(schema, value).success).toBe(false);
  });
});

test("an issue says what was expected", async () => {
  expect(await issuesOf(issueValidator, { number: -(2 ** 53), title: 5, status: "open", type: null })).toEqual([
    "number: must be a safe integer, got a number",
    "title: must be a string, got a number",
    "type: must be a string, got null",
  ]);
  const wrong = { ...token, scopes: ["a", 5], expires_at: "soon", plaintext: "" };
  const issues = [
    "scopes.1: must be a string, got a number",
    "expires_at: must be an ISO 8601 timestamp, got a string",
    "plaintext: must be a non-empty string, got an empty string",
  ];
  expect(await issuesOf(createdTokenValidator, wrong)).toEqual(issues);
  // The error may be the cause of another one, whose message is looked through for secrets by the names before them.
  const redactor = new Redactor({ tokens: [] });
  expect(issues.map((issue) => redactor.text(issue))).toEqual(issues);
});

test("an application's settings of zod do not change the text of an issue", async () => {
  const before = z.config();
  const { customError } = before;
  z.config({ customError: ({ input }) => `quotes ${String(input)}` });
  try {
    expect(await issuesOf(validatorOf(ProjectSchema), { id: "p", name: 5 })).toEqual([
      "name: must be a string, got a number",
    ]);
  } finally {
    z.config({ customError });
  }
});

describe("the client's own check accepts what the published schema accepts:", () => {
  const project = fc.record({ id: anyValue(), name: anyValue() }, { requiredKeys: [] });
  const session = fc.record({ id: anyValue(), state: anyValue() }, { requiredKeys: [] });
  const issue = fc.record(
    { number: anyValue(), title: anyValue(), status: anyValue(), type: anyValue() },
    { requiredKeys: [] },
  );
  const created = fc.record(
    {
      id: anyValue(),
      name: anyValue(),
      key_id: anyValue(),
      scopes: anyValue(),
      expires_at: anyValue(),
      plaintext: anyValue(),
    },
    { requiredKeys: [] },
  );
  const pageWith = (record: fc.Arbitrary<unknown>) =>
    fc.record(
      { data: fc.oneof(fc.array(record, { maxLength: 3 }), anyValue()), next_cursor: anyValue() },
      { requiredKeys: [] },
    );

  test.each([
    {
      record: "a page of projects",
      schema: pageOf(ProjectSchema),
      own: projectPageValidator,
      values: pageWith(project),
    },
    {
      record: "a page of sessions",
      schema: pageOf(SessionSchema),
      own: sessionPageValidator,
      values: pageWith(session),
    },
    { record: "a session", schema: SessionSchema, own: sessionValidator, values: session },
    { record: "an issue", schema: IssueSchema, own: issueValidator, values: issue },
    { record: "a created token", schema: CreatedTokenSchema, own: createdTokenValidator, values: created },
  ])("$record", async ({ schema, own, values }) => {
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const published = schema.safeParse(value).error?.issues.map(({ path }) => path);
        const { issues } = await own["~standard"].validate(value);
        expect(issues?.map(({ path }) => path)).toEqual(published);
      }),
      { numRuns: 500 },
    );
  });
});

/** Mostly text, so that whole records fit, too. */
function anyValue(): fc.Arbitrary<unknown> {
  const two = fc.integer({ min: 0, max: 61 }).map((value) => String(value).padStart(2, "0"));
  const day = fc.constantFrom("01", "28", "29", "30", "31", "32");
  const year = fc.constantFrom("0000", "1900", "2000", "2023", "2024", "9999");
  const zone = fc.constantFrom("Z", "+00:00", "-23:59", "+24:00", "z", "");
  const timestamp = fc
    .tuple(year, fc.integer({ min: 0, max: 13 }), day, two, two, zone)
    .map(([y, month, d, a, b, z]) => `${y}-${String(month).padStart(2, "0")}-${d}T${a}:${b}:${a}${z}`);
  const odd = [undefined, null, true, 0, 12, 1.5, Number.NaN, 2 ** 53, {}, [], ["a:b"], [5], "\ud800", "\n", "é"];
  return fc.oneof({ weight: 3, arbitrary: fc.string() }, timestamp, fc.constantFrom(...odd));
}

test("a record is handed over itself, with its fields in the order of the response", async () => {
  const record = { extra: { deep: [1] }, status: "open", title: "t", number: 1 };
  const result = await issueValidator["~standard"].validate(record);
  expect("value" in result && result.value).toBe(record);
});

describe("expires_at", () => {
  test.each(["2030-01-01T00:00:00Z", "2030-01-01T00:00:00.123456789+02:00", "2028-02-29T23:59:59Z"])(
    "%s is accepted and stays as it is",
    async (expires_at) => {
      expect(TokenSchema.parse({ ...token, expires_at }).expires_at).toBe(expires_at);
      expect(await issuesOf(createdTokenValidator, { ...token, plaintext: "p", expires_at })).toEqual([]);
    },
  );

  test.each([
    ...["never", "2030-01-01", "2030-13-01T00:00:00Z", "2030-02-30T00:00:00Z", "2030-01-01T24:00:00Z"],
    ...["2030-01-01T00:60:00Z", "2030-01-01T00:00:60Z", "2030-01-01T00:00:00+24:00", "2030-01-01T00:00:00Z\n"],
  ])("%j is not", async (expires_at) => {
    expect(TokenSchema.safeParse({ ...token, expires_at }).success).toBe(false);
    expect(await issuesOf(createdTokenValidator, { ...token, plaintext: "p", expires_at })).toHaveLength(1);
  });
});

describe("as zod schemas they", () => {
  test("can be extended, and keep fields that they do not name", () => {
    const Team = z.extend(ProjectSchema, { team: z.string() });
    expect(Team.parse({ id: "p", name: "n", team: "t", more: 1 })).toEqual({ id: "p", name: "n", team: "t", more: 1 });
    expect(Team.safeParse({ id: "p", name: "n" }).success).toBe(false);
  });

  test("can be turned into JSON Schema", () => {
    expect(z.toJSONSchema(CreatedTokenSchema)).toMatchObject({
      type: "object",
      properties: { scopes: { type: "array", items: { type: "string" } }, expires_at: { format: "date-time" } },
      required: expect.arrayContaining(["id", "plaintext"]),
      additionalProperties: {},
    });
    expect(z.toJSONSchema(pageOf(ProjectSchema))).toMatchObject({ required: ["data", "next_cursor"] });
  });

  test("make pages: a cursor is a string that is not empty, or null", () => {
    const page = { data: [{ id: "a", name: "A", extra: 1 }], next_cursor: "c", more: { x: 1 } };
    expect(pageOf(ProjectSchema).parse(page)).toEqual(page);
    for (const next_cursor of [undefined, "", 0, false, {}]) {
      expect(pageOf(ProjectSchema).safeParse({ ...page, next_cursor }).success).toBe(false);
    }
  });
});
