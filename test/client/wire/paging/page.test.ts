import { getEventListeners } from "node:events";
import { expect, expectTypeOf, test } from "vitest";
import { AbortError, type Page, type Project } from "../../../../src/client/index.ts";
import { gate, rejection } from "../../../support/promises.ts";
import { json, page, pagesOf } from "../../../support/replies.ts";
import { openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire();
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("page() is one request for the first page, as the service sent it", async () => {
  wire.script(json({ data: [{ id: "a", name: "A", more: [1] }], next_cursor: "c1", total: 7 }));
  const first = await wire.client().projects.list({ limit: 5 }).page();
  expectTypeOf(first).toEqualTypeOf<Page<Project>>();
  expect(first).toEqual({ data: [{ id: "a", name: "A", more: [1] }], next_cursor: "c1", total: 7 });
  expect(wire.sent.map(({ path: asked }) => asked)).toEqual(["/projects?limit=5"]);
});

test("page() from cursor to cursor is every page, once", async () => {
  wire.reply(pagesOf(["a", "b"], [], ["c"]));
  const client = wire.client();
  const seen: string[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const { data, next_cursor }: Page<Project> = await client.projects.list({ cursor }).page();
    seen.push(...data.map(({ id }) => id));
    cursor = next_cursor;
  }
  expect(seen).toEqual(["a", "b", "c"]);
  expect(wire.sent).toHaveLength(3);
});

test("page() is one request for an empty page too, and for one that goes in circles", async () => {
  for (const [items, cursor] of [
    [[], "c1"],
    [["a"], "S"],
  ] as const) {
    const before = wire.sent.length;
    wire.reply(() => page(items, cursor));
    const { data, next_cursor } = await wire.client().projects.list({ cursor: "S" }, { prefetch: true }).page();
    await settled();
    expect([data.length, next_cursor]).toEqual([items.length, cursor]);
    expect(wire.sent.length - before).toBe(1);
  }
});

test("page() rejects with the cursor that was requested", async () => {
  wire.reply(() => json({ error: "no" }, 404));
  const client = wire.client();
  expect(await rejection(client.projects.list().page())).toMatchObject({ kind: "not_found", cursor: null });
  expect(await rejection(client.projects.list({ cursor: "c7" }).page())).toMatchObject({ cursor: "c7" });
});

test("page() is cancelled by the signal of the list, and leaves no listener on it", async () => {
  const asked = gate();
  const fetch: typeof globalThis.fetch = async () => {
    asked.open();
    return new Promise(() => {});
  };
  const controller = new AbortController();
  const { signal } = controller;
  const failing = rejection(wire.client({ fetch }).projects.list({}, { signal }).page());
  await asked.opened;
  controller.abort("left the view");
  const error = await failing;
  expect(error).toBeInstanceOf(AbortError);
  expect(error).toMatchObject({ cause: "left the view", cursor: null });
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});
