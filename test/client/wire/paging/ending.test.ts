import { expect, test } from "vitest";
import { drain, gate, rejection } from "../../../support/promises.ts";
import { json, page, pagesOf } from "../../../support/replies.ts";
import { openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire();
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const ids = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);

test("a break on the first item sends nothing more", async () => {
  wire.script(page(["a", "b"], "c1"));
  await drain(wire.client().projects.list(), 1);
  await settled();
  expect(wire.sent).toHaveLength(1);
});

test("a consumer that throws ends the walk, and its error is passed on as it is", async () => {
  wire.script(page(["a", "b"], "c1"));
  const thrown = new Error("mine");
  const walk = async (): Promise<void> => {
    for await (const _ of wire.client().projects.list({}, { prefetch: false })) throw thrown;
  };
  expect(await rejection(walk())).toBe(thrown);
  await settled();
  expect(wire.sent).toHaveLength(1);
});

test("prefetch requests page 2 while page 1 is consumed, and one page at a time", async () => {
  const second = gate();
  const pages = pagesOf(["a"], ["b"], ["c"]);
  wire.reply((request) => {
    if (request.index === 1) second.open();
    return pages(request);
  });
  const iterator = wire.client().projects.list({}, { prefetch: true })[Symbol.asyncIterator]();
  expect(await iterator.next()).toMatchObject({ value: { id: "a" } });
  await second.opened; // without another next()
  await settled();
  expect(wire.sent).toHaveLength(2);
  expect(await iterator.next()).toMatchObject({ value: { id: "b" } });
  expect(await iterator.next()).toMatchObject({ value: { id: "c" } });
  expect((await iterator.next()).done).toBe(true);
  expect(wire.sent.map(({ query }) => query.get("cursor"))).toEqual([null, "c1", "c2"]);
});

test.each(["for await", "pages", "return"])("a %s that ends early cancels the prefetch in flight", async (how) => {
  const asked = gate();
  const cancelled = gate();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.includes("cursor")) return page(["a", "b"], "c1");
    asked.open();
    return new Promise((_, reject) => {
      init?.signal?.addEventListener("abort", () => {
        cancelled.open();
        reject(init.signal?.reason);
      });
    });
  };
  const list = wire.client({ fetch }).projects.list({}, { prefetch: true });
  if (how === "for await") {
    for await (const _ of list) {
      await asked.opened;
      break;
    }
  } else {
    const iterator = how === "pages" ? list.pages() : list[Symbol.asyncIterator]();
    await iterator.next();
    await asked.opened;
    await iterator.return?.();
    expect((await iterator.next()).done).toBe(true);
  }
  await cancelled.opened;
  await settled(); // an unhandled rejection fails the run
});

test("a prefetched page that fails rejects when the walk reaches it, after the items before it", async () => {
  wire.script(page(["a", "b"], "c1"), json({ error: "bad" }, 400));
  const { items, error } = await drain(wire.client().projects.list({}, { prefetch: true }));
  expect(ids(items)).toEqual(["a", "b"]);
  expect(error).toMatchObject({ kind: "bad_request", cursor: "c1" });
});

test("a prefetched page that fails causes no rejection if the walk does not reach it", async () => {
  wire.script(page(["a", "b"], "c1"), json({ error: "bad" }, 400));
  for await (const _ of wire.client().projects.list({}, { prefetch: true })) {
    while (wire.sent.length < 2) await settled();
    await settled();
    break;
  }
  expect(wire.sent).toHaveLength(2);
});

test("return() during a pending next: that next is done, and nothing follows", async () => {
  const arrived = gate();
  const go = gate();
  wire.reply(async () => {
    arrived.open();
    await go.opened;
    return page(["a"], "c1");
  });
  const iterator = wire.client().projects.list()[Symbol.asyncIterator]();
  const pending = iterator.next();
  await arrived.opened;
  const returned = iterator.return?.();
  go.open();
  expect(await returned).toEqual({ done: true, value: undefined });
  expect(await pending).toEqual({ done: true, value: undefined });
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
  expect(wire.sent).toHaveLength(1);
});

test.each(["items", "pages"])("return() cancels the request in flight of %s and resolves at once", async (walk) => {
  const asked = gate();
  const cancelled = gate();
  const fetch: typeof globalThis.fetch = async (_, init) => {
    asked.open();
    init?.signal?.addEventListener("abort", () => cancelled.open());
    return new Promise(() => {}); // it does not heed the signal
  };
  const list = wire.client({ fetch }).projects.list();
  const iterator = walk === "pages" ? list.pages() : list[Symbol.asyncIterator]();
  const pending = [iterator.next(), iterator.next()];
  await asked.opened;
  expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
  await cancelled.opened;
  expect(await Promise.all(pending)).toEqual([
    { done: true, value: undefined },
    { done: true, value: undefined },
  ]);
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
  expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
});

test.each([0, 1, 2, 3, 4, 5])("toArray({ max: %i }) sends no request past the one that fills it", async (max) => {
  const requests = [0, 1, 1, 2, 3, 3][max] ?? 0;
  for (const prefetch of [false, true]) {
    wire.reply(pagesOf(["a", "b"], ["c"], ["d"]));
    const before = wire.sent.length;
    const items = await wire.client().projects.list({}, { prefetch }).toArray({ max });
    await settled();
    expect(ids(items)).toEqual(["a", "b", "c", "d"].slice(0, max));
    expect(wire.sent.length - before).toBe(requests);
  }
});
