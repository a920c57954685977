import { expect, test } from "vitest";
import { ResponseValidationError } from "../../../../src/client/index.ts";
import { drain } from "../../../support/promises.ts";
import { json, page, pagesOf } from "../../../support/replies.ts";
import { openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire("msw");

const ids = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);

test("three pages: items in order, three requests, the first without a cursor, ends at null", async () => {
  wire.reply(pagesOf(["a", "b"], ["c"], ["d", "e"]));
  const { items, error } = await drain(wire.client().projects.list());
  expect(error).toBeUndefined();
  expect(ids(items)).toEqual(["a", "b", "c", "d", "e"]);
  expect(wire.sent.map(({ path }) => path)).toEqual(["/projects", "/projects?cursor=c1", "/projects?cursor=c2"]);
});

test("a list that is not consumed sends nothing, is not a promise, and can be awaited without being consumed", async () => {
  const list = wire.client().projects.list({ limit: 5 });
  expect("then" in list).toBe(false);
  expect(await Promise.resolve(list)).toBe(list);
  list.pages();
  list[Symbol.asyncIterator]();
  await Promise.resolve();
  expect(wire.sent).toHaveLength(0);
});

test("a list with invalid arguments or an aborted signal that is not consumed causes no rejection", async () => {
  const client = wire.client();
  client.projects.list({ limit: Number.NaN });
  client.projects.list({}, { signal: AbortSignal.abort() });
  client.projects.list({}, { prefetch: true, timeoutMs: -1 }).pages();
  await new Promise((resolve) => setImmediate(resolve)); // unhandled rejections fail the run
  expect(wire.sent).toHaveLength(0);
});

test("an empty page with a cursor is followed, a short page is not the end", async () => {
  wire.reply(pagesOf([], [], ["a"], [], ["b"], []));
  const { items } = await drain(wire.client().projects.list({ limit: 100 }));
  expect(ids(items)).toEqual(["a", "b"]);
  expect(wire.sent).toHaveLength(6);
});

test.each([
  ["missing", undefined],
  ["empty", ""],
])("next_cursor %s is a validation error, never the end", async (_, next) => {
  wire.script(page(["a"], "c1"), page(["b"], next));
  const { items, error } = await drain(wire.client().projects.list());
  expect(ids(items)).toEqual(["a"]);
  expect(error).toBeInstanceOf(ResponseValidationError);
  expect(error).toMatchObject({ cursor: "c1", status: 200 });
  expect((error as ResponseValidationError).issues[0]?.path).toEqual(["next_cursor"]);
  expect(wire.sent).toHaveLength(2);
});

test.each([
  ["missing", { next_cursor: null }],
  [
    "of a bad item",
    {
      data: [
        { id: "b", name: "b" },
        { id: 2, name: "c" },
      ],
      next_cursor: null,
    },
  ],
  ["no envelope", [{ id: "a", name: "a" }]],
])("data %s on page 2: page 1 is delivered, then the error has the failing cursor", async (_, body) => {
  wire.script(page(["a"], "c1"), json(body));
  const { items, error } = await drain(wire.client().projects.list());
  expect(ids(items)).toEqual(["a"]);
  expect(error).toMatchObject({ kind: "validation", cursor: "c1", status: 200, path: "/projects" });
  expect(wire.sent).toHaveLength(2);
});

test("each for await starts afresh, also after a break and after an error", async () => {
  wire.reply(pagesOf(["a", "b"], ["c"]));
  const list = wire.client().projects.list();
  expect((await drain(list, 1)).items).toHaveLength(1);
  expect(ids((await drain(list)).items)).toEqual(["a", "b", "c"]);
  wire.reply(() => json({ error: "gone" }, 404));
  expect((await drain(list)).error).toMatchObject({ kind: "not_found" });
  wire.reply(pagesOf(["a"], ["c"]));
  expect(ids((await drain(list)).items)).toEqual(["a", "c"]);
});

test("limit, the encoded project and the caller's headers are the same on each page", async () => {
  wire.reply(({ query }) =>
    json({ data: [{ id: "s", state: "on" }], next_cursor: query.get("cursor") === null ? "x/ y+&" : null }),
  );
  const client = wire.client();
  await client.sessions.list("a/b c", { limit: 0 }, { headers: { "x-tag": "t" } }).toArray();
  expect(wire.sent.map(({ path }) => path)).toEqual([
    "/projects/a%2Fb%20c/sessions?limit=0",
    "/projects/a%2Fb%20c/sessions?limit=0&cursor=x%2F%20y%2B%26",
  ]);
  expect(wire.sent.map(({ headers }) => headers.get("x-tag"))).toEqual(["t", "t"]);
});

test("a token that is swapped between pages is used by the next page", async () => {
  wire.reply(pagesOf(["a"], ["b"]));
  const client = wire.client();
  for await (const { id } of client.projects.list()) if (id === "a") client.setToken("pat_other_0123456789");
  expect(wire.sent[1]?.headers.get("authorization")).toBe("Bearer pat_other_0123456789");
});
