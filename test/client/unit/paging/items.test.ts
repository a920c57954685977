import fc from "fast-check";
import { expect, test } from "vitest";
import { batchIterator } from "../../../../src/core/paging/walk.ts";

const done = { done: true, value: undefined };

/** A walk over pages of so many items, and how many pages have been asked for. */
function itemsOf(sizes: readonly number[], failsAt = Number.POSITIVE_INFINITY) {
  let asked = 0;
  let serial = 0;
  const pages = async function* () {
    for (const size of sizes) {
      asked += 1;
      await Promise.resolve();
      if (asked > failsAt) throw new Error("no");
      yield { data: Array.from({ length: size }, () => serial++), next_cursor: null };
    }
  };
  return {
    items: batchIterator(
      pages,
      ({ data }) => data,
      () => {},
    ),
    asked: () => asked,
  };
}

const sizes = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 6 });

test("however calls of next() overlap, they have the items in order, one request for each page", async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 10 }), async (pages, bursts) => {
      const { items, asked } = itemsOf(pages);
      const total = pages.reduce((sum, size) => sum + size, 0);
      let expected = 0;
      for (const burst of bursts) {
        const results = await Promise.all(Array.from({ length: burst }, () => items.next()));
        for (const result of results) {
          expect(result).toEqual(expected < total ? { done: false, value: expected } : done);
          expected += 1;
        }
      }
      expect(asked()).toBeLessThanOrEqual(pages.length);
    }),
  );
});

test("of overlapping calls over a page that fails the first one rejects, and the others are done", async () => {
  const { items } = itemsOf([1, 1], 1);
  const results = await Promise.allSettled([items.next(), items.next(), items.next()]);
  expect(results).toMatchObject([{ value: { value: 0 } }, { reason: { message: "no" } }, { value: done }]);
  expect(await items.next()).toEqual(done);
});

test("return() at whatever turn: what was asked before has an item or is done, and nothing follows", async () => {
  for (let turns = 0; turns < 12; turns += 1) {
    const { items } = itemsOf([2, 2]);
    const pending = items.next();
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    expect(await items.return()).toEqual(done);
    expect([done, { done: false, value: 0 }]).toContainEqual(await pending);
    expect(await items.next()).toEqual(done);
  }
});
