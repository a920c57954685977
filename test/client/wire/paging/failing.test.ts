import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { AbortError, isAutomationError, PaginationError } from "../../../../src/client/index.ts";
import { drain, rejection } from "../../../support/promises.ts";
import { json, page, pagesOf } from "../../../support/replies.ts";
import { openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire();
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const ids = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);

test.each([
  ["first", 0, [], null],
  ["second", 1, ["a", "b"], "c1"],
  ["last", 2, ["a", "b", "c"], "c2"],
] as const)("an error on the %s page carries its cursor, from which exactly the rest is had", async (...row) => {
  const [, at, got, cursor] = row;
  const pages = pagesOf(["a", "b"], ["c"], ["d", "e"]);
  wire.reply((request) => (request.index === at ? json({ error: "no" }, 404) : pages(request)));
  const client = wire.client();
  const iterator = client.projects.list({ limit: 2 })[Symbol.asyncIterator]();
  const items: string[] = [];
  const failure = await rejection(
    (async () => {
      for (;;) items.push(((await iterator.next()).value as { id: string }).id);
    })(),
  );
  expect(items).toEqual(got);
  if (!isAutomationError(failure)) throw failure;
  expect(failure.cursor).toBe(cursor);
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
  wire.reply(pages);
  const rest = await client.projects.list({ limit: 2, cursor: failure.cursor ?? undefined }).toArray();
  expect([...items, ...ids(rest)]).toEqual(["a", "b", "c", "d", "e"]);
});

test.each([
  ["A again at once", ["A", "A"], 2],
  ["A, B, A", ["A", "B", "A"], 3],
  ["back to the start of a resumed walk", ["S"], 1],
  ["A, B, C, B", ["A", "B", "C", "B"], 4],
])(
  "cursors %s: the page's items are delivered, then a PaginationError and no further request",
  async (_, trail, requests) => {
    for (const walk of ["items", "pages", "prefetch"]) {
      const before = wire.sent.length;
      wire.reply(({ index }) => page([`i${index}`], trail[index - before] ?? null));
      const list = wire.client().projects.list({ cursor: "S" }, { prefetch: walk === "prefetch" });
      const { items, error } = await drain<unknown>(walk === "pages" ? list.pages() : list, 50);
      expect(items).toHaveLength(requests);
      expect(error).toBeInstanceOf(PaginationError);
      expect(error).toMatchObject({ kind: "pagination", cursor: trail.at(-1) });
      expect(wire.sent.length - before).toBe(requests);
    }
  },
);

test.each([9, 40, 300])("a cycle of %i cursors is detected at its first repeat", async (length) => {
  wire.reply(({ index }) => page([], `c${index % length}`));
  const { error } = await drain(wire.client().projects.list());
  expect(error).toBeInstanceOf(PaginationError);
  expect(wire.sent).toHaveLength(length + 1);
});

test("endless empty pages with new cursors end, and the walk can be resumed", async () => {
  for (const prefetch of [false, true]) {
    const before = wire.sent.length;
    wire.reply(({ index }) => page([], `c${index - before + 1}`));
    const error = await rejection(wire.client().projects.list({}, { prefetch }).toArray());
    expect(error).toBeInstanceOf(PaginationError);
    expect(error).toMatchObject({
      message: "projects.list: the service sent 1000 empty pages in a row",
      cursor: "c1000",
    });
    expect(wire.sent.length - before).toBe(1_000);
  }
  wire.reply(() => page(["a"], null));
  const rest = await wire.client().projects.list({ cursor: "c1000" }).toArray();
  expect(ids(rest)).toEqual(["a"]);
});

test("an abort between pages: next rejects once, with the cursor, then it is done", async () => {
  wire.script(page(["a"], "c1"));
  const controller = new AbortController();
  const iterator = wire.client().projects.list({}, { signal: controller.signal })[Symbol.asyncIterator]();
  await iterator.next();
  controller.abort("enough");
  const error = await rejection(iterator.next());
  expect(error).toBeInstanceOf(AbortError);
  expect(error).toMatchObject({ cause: "enough", cursor: "c1", outcome: "not_sent" });
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
  expect(wire.sent).toHaveLength(1);
});

test("an abort during a page rejects at once with the caller's reason, also while prefetching", async () => {
  for (const prefetch of [false, true]) {
    const controller = new AbortController();
    const reason = { any: "thing" };
    const fetch: typeof globalThis.fetch = async (input) => {
      if (!new Request(input).url.includes("cursor")) return page(["a"], "c1");
      queueMicrotask(() => controller.abort(reason));
      return new Promise(() => {});
    };
    const list = wire.client({ fetch }).projects.list({}, { signal: controller.signal, prefetch });
    const { items, error } = await drain(list);
    expect(ids(items)).toEqual(["a"]);
    expect(error).toMatchObject({ kind: "abort", cause: reason, cursor: "c1" });
  }
});

test("walks leave no listener on the caller's signal, however they end", async () => {
  const { signal } = new AbortController();
  wire.reply(pagesOf(["a"], ["b"], ["c"]));
  const client = wire.client();
  await client.projects.list({}, { signal }).toArray();
  await client.projects.list({}, { signal, prefetch: true }).toArray();
  await drain(client.projects.list({}, { signal, prefetch: true }), 1);
  wire.reply(() => json({}, 404));
  await drain(client.projects.list({}, { signal }));
  await settled();
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});
