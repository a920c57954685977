/** A run of one copy of the package takes a client and a journal of the other, as an application that loads both has them. */
import { createRequire } from "node:module";
import * as esm from "project-automation";
import * as esmBulk from "project-automation/bulk";
import { createEmulator } from "project-automation/testing";
import { expect, test } from "vitest";

const require = createRequire(import.meta.url);
const cjs = require("project-automation") as typeof esm; // the same package
const cjsBulk = require("project-automation/bulk") as typeof esmBulk; // the same package

test.each([
  ["CommonJS", "ESM", cjs.Client, esmBulk],
  ["ESM", "CommonJS", esm.Client, cjsBulk],
] as const)("a client of %s in a run of %s", async (...[, , Client, { bulkWrite, memoryJournal }]) => {
  expect(cjs.Client).not.toBe(esm.Client);
  const emulator = createEmulator({ projects: [{ name: "web" }], rateLimit: false });
  const client = new Client({ ...emulator.clientOptions, retry: { minDelayMs: 1, maxDelayMs: 1 } });
  emulator.fault({ operation: "issues.create", status: 422, skip: 1 });
  const options = { client, items: ["a", "b", "c"], key: (title: string) => title, journal: memoryJournal() };
  const second: unknown[] = [];
  const run = bulkWrite({
    ...options,
    concurrency: 1,
    send: async (bound, title) => {
      const made = await bound.issues.create("web", { title, type: "bug" });
      second.push(await bound.issues.create("web", { title, type: "bug" }).catch((error: unknown) => error));
      return made;
    },
  });
  expect(await run).toMatchObject({ done: 2, refused: 1 });
  expect(second).toMatchObject(Array(2).fill({ kind: "argument", outcome: "not_sent" }));
  expect(emulator.requests.map(({ method }) => method)).toEqual(["GET", "POST", "POST", "POST"]);
});

test("one journal object serves one run at a time, and a source one run, whichever copies they are of", async () => {
  const emulator = createEmulator({ projects: [{ name: "web" }], rateLimit: false });
  const journal = esmBulk.memoryJournal();
  function* titles(): Generator<string> {
    yield* ["a", "b", "c"];
  }
  const options = {
    client: new esm.Client(emulator.clientOptions),
    key: (title: string) => title,
    send: (bound: esm.Client, title: string) => bound.issues.create("web", { title, type: "bug" }),
  };
  const items = titles();
  const runs = [esmBulk.bulkWrite({ ...options, items, journal }), cjsBulk.bulkWrite({ ...options, items, journal })];
  const others = [esmBulk, cjsBulk].map(({ bulkWrite }) => bulkWrite({ ...options, items: ["a", "b", "c"], journal }));
  const ends = await Promise.allSettled([...runs, ...others]);
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "rejected"]);
  expect(ends.slice(1)).toMatchObject([
    { reason: { kind: "argument", message: expect.stringContaining("make it anew") } },
    ...Array(2).fill({ reason: { kind: "journal", reason: "in_use" } }),
  ]);
  expect(emulator.issues.list("web")).toHaveLength(3);
});
