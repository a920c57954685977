import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import * as zm from "zod/mini";
import { type Paginator, path, ResponseValidationError, type StandardSchema } from "../../../../src/client/index.ts";
import { drain, rejection } from "../../../support/promises.ts";
import { json, text } from "../../../support/replies.ts";
import { openWire } from "../../../support/scripted-fetch.ts";
import { expectClean } from "../../../support/sweep.ts";

const wire = openWire("msw");
const SECRET = "tok_secret_abcdefghijklmnop";

/** The same shape in each library: `{ id: string, count: number }`. */
const SCHEMAS: Readonly<Record<string, StandardSchema<{ id: string; count: number }>>> = {
  zod: z.object({ id: z.string(), count: z.number() }),
  "zod/mini": zm.object({ id: zm.string(), count: zm.number() }),
  valibot: v.object({ id: v.string(), count: v.number() }),
  arktype: type({ id: "string", count: "number" }),
  "an asynchronous valibot": v.objectAsync({
    id: v.pipeAsync(
      v.string(),
      v.checkAsync(async () => true),
    ),
    count: v.number(),
  }),
};

describe.each(Object.entries(SCHEMAS))("a schema of %s", (_, schema) => {
  const get = (): Promise<{ id: string; count: number }> =>
    wire.client().request({ method: "GET", path: path`/x/${"a/b"}`, schema });

  test("returns its output", async () => {
    wire.script(json({ id: "a", count: 1 }));
    expect(await get()).toEqual({ id: "a", count: 1 });
    expect(wire.sent[0]?.path).toBe("/x/a%2Fb");
  });

  test("an issue has a path, and no value of the response is in the error", async () => {
    wire.script(json({ id: "a", count: SECRET, [SECRET]: SECRET, list: [{ [SECRET]: 1 }] }));
    const error = (await rejection(get())) as ResponseValidationError;
    expect(error).toBeInstanceOf(ResponseValidationError);
    expect(error.issues.map((issue) => issue.path)).toContainEqual(["count"]);
    expect(error).toMatchObject({ path: "/x/{}", method: "GET", status: 200 });
    expectClean(error, [SECRET], ["rawBody"]);
  });

  test("is for one item in a walk", async () => {
    wire.script(
      json({ data: [{ id: "a", count: 1 }], next_cursor: "c" }),
      json({ data: [{ id: "b", count: SECRET }], next_cursor: null }),
    );
    const walk = wire.client().paginate({ path: path`/x`, schema })[Symbol.asyncIterator]();
    expect((await walk.next()).value).toEqual({ id: "a", count: 1 });
    const error = (await rejection(walk.next())) as ResponseValidationError;
    expect(error.issues[0]?.path).toEqual(["data", 0, "count"]);
    expect(error.cursor).toBe("c");
    expectClean(error, [SECRET], ["rawBody"]);
  });
});

test.each([
  ["zod", z.object({ data: z.array(z.object({ id: z.string() })), next_cursor: z.nullable(z.string()) })],
  ["valibot", v.object({ data: v.array(v.object({ id: v.string() })), next_cursor: v.nullable(v.string()) })],
])("the schema of a page is told as such in a walk: %s", async (_, ofPage) => {
  wire.script(json({ data: [{ id: "a", count: 1 }], next_cursor: null }));
  const error = await rejection(wire.client().paginate({ path: path`/x`, schema: ofPage }).page());
  expect(error).toMatchObject({ issues: [{ path: ["schema"] }] });
  expect(error).toHaveProperty("message", expect.stringContaining("schema: must be of one item, not of a page"));
});

describe("a list without a schema", () => {
  const list = (): Paginator<unknown> => wire.client().paginate({ path: path`/x` });

  test("has the items as the service sent them, with all that is beside them", async () => {
    const items = [1, null, "a", [2], { id: 3 }];
    wire.reply(({ query }) => json({ data: items, next_cursor: query.has("cursor") ? null : "c", total: 10 }));
    expect(await list().toArray()).toEqual([...items, ...items]);
    expect(await list().page()).toEqual({ data: items, next_cursor: "c", total: 10 });
    const { items: walked } = await drain(list());
    expect(walked).toEqual([...items, ...items]);
  });

  test.each([
    ["no list", { items: [] }, "data"],
    ["no cursor", { data: [] }, "next_cursor"],
    ["an empty cursor", { data: [], next_cursor: "" }, "next_cursor"],
  ])("%s is no page", async (_, body, problem) => {
    wire.script(json(body));
    const error = (await rejection(list().toArray())) as ResponseValidationError;
    expect(error).toBeInstanceOf(ResponseValidationError);
    expect(error.issues.map((issue) => issue.path.join("."))).toContain(problem);
    expect(error.message).not.toContain("doctor"); // which asks no such endpoint
  });
});

test("a schema that transforms returns its output, in requests and in walks", async () => {
  wire.script(json({ at: "2030" }), json({ data: ["1", "2"], next_cursor: null }));
  const client = wire.client();
  const year = z.object({ at: z.string() }).transform(({ at }) => Number(at));
  expect(await client.request({ method: "GET", path: path`/x`, schema: year })).toBe(2030);
  expect(await client.paginate({ path: path`/x`, schema: z.coerce.number() }).toArray()).toEqual([1, 2]);
});

test("a schema that returns undefined for an item drops no item", async () => {
  wire.script(json({ data: [1, 2], next_cursor: null }));
  const items = await wire
    .client()
    .paginate({ path: path`/x`, schema: z.number().transform(() => undefined) })
    .toArray();
  expect(items).toEqual([undefined, undefined]);
});

test.each([
  [
    "throws",
    () => {
      throw new RangeError("broken schema");
    },
  ],
  ["rejects", async () => Promise.reject(new RangeError("broken schema"))],
])("a schema that %s is a ResponseValidationError with that cause", async (_, validate) => {
  const schema = { "~standard": { version: 1, vendor: "t", validate } } as StandardSchema;
  wire.reply(() => json({ data: [1], next_cursor: null }));
  for (const call of [
    wire.client().request({ method: "GET", path: path`/x`, schema }),
    wire.client().paginate({ path: path`/x`, schema }).toArray(),
  ]) {
    const error = (await rejection(call)) as ResponseValidationError;
    expect(error).toBeInstanceOf(ResponseValidationError);
    expect(error.cause).toBeInstanceOf(RangeError);
    expect(error.message).toContain(
      "200, but the response is not of the expected shape: the schema threw (broken schema)",
    );
    expect(error.rawBody).toBe('{"data":[1],"next_cursor":null}');
  }
});

describe("without a schema", () => {
  test("HEAD resolves with undefined, whatever its headers say of the body", async () => {
    wire.script(text(null, 200, { "content-type": "application/json", "content-length": "5" }));
    expect(await wire.client().request({ method: "HEAD", path: path`/x` })).toBeUndefined();
  });

  test("a 204 and an empty body resolve undefined", async () => {
    for (const answer of [() => text(null, 204), () => text(""), () => text(" \n", 201)]) {
      wire.reply(answer);
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] as const) {
        expect(await wire.client().request({ method, path: path`/x` })).toBeUndefined();
      }
    }
  });
});

describe("with a schema", () => {
  const schema = z.object({ gone: z.boolean() });

  test("a DELETE rejects if its body is of another shape", async () => {
    wire.script(json({ gone: 1 }));
    const remove = wire.client().request({ method: "DELETE", path: path`/x`, schema });
    expect(await rejection(remove)).toBeInstanceOf(ResponseValidationError);
  });

  test("a HEAD is an ArgumentError, since its response has no body", async () => {
    const error = await rejection(wire.client().request({ method: "HEAD", path: path`/x`, schema }));
    expect(error).toMatchObject({ kind: "argument", message: expect.stringContaining("schema") });
    expect(wire.sent).toHaveLength(0);
  });
});

test("errors name the template, not its values", async () => {
  wire.script(json({ error: "no" }, 404));
  const error = (await rejection(
    wire.client().request({ method: "PUT", path: path`/x/${"my-secret-name"}/y`, json: 1 }),
  )) as Error;
  expect(error).toMatchObject({ path: "/x/{}/y", method: "PUT", kind: "not_found" });
  expect(error.message).toContain("PUT /x/{}/y");
  expectClean(error, ["my-secret-name"]);
});

test("json is written once, when the call is made: byte-identical on each attempt", async () => {
  let writes = 0;
  const body = { toJSON: () => ({ writes: ++writes }) };
  wire.script(json({}, 429, { "retry-after": "0" }), json({}, 503), json({ ok: true }));
  await wire
    .client({ retry: { unsafeWrites: true, minDelayMs: 0 } })
    .request({ method: "POST", path: path`/x`, json: body });
  expect(wire.sent.map((seen) => seen.body)).toEqual(['{"writes":1}', '{"writes":1}', '{"writes":1}']);
});

test("unknown keys that a strict schema reports do not show secrets", async () => {
  const token = "pat_public_theSecretTokenOfTheClient";
  const strict = [
    z.strictObject({ id: z.string() }),
    v.strictObject({ id: v.string() }),
    type({ "+": "reject", id: "string" }),
  ];
  for (const schema of strict) {
    wire.reply(() => json({ id: "a", [token]: 1 }));
    const error = await rejection(wire.client({ token }).request({ method: "GET", path: path`/x`, schema: schema }));
    expect(error).toBeInstanceOf(ResponseValidationError);
    expectClean(error, [token], ["rawBody"]);
  }
});
