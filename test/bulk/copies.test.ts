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
  const run = bulkWrite({
    ...options,
    concurrency: 1,
    send: (bound, title) => bound.issues.create("web", { title, type: "bug" }),
  });
  expect(await run.catch((error: unknown) => error)).toMatchObject({ kind: "bulk", summary: { done: 2, refused: 1 } });
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
  const run = esmBulk.bulkWrite({ ...options, items, journal });
  expect(() => cjsBulk.bulkWrite({ ...options, items, journal })).toThrow("make it anew");
  const others = [esmBulk, cjsBulk].map(({ bulkWrite }) => bulkWrite({ ...options, items: ["a", "b", "c"], journal }));
  const [first, ...rest] = await Promise.allSettled([run, ...others]);
  expect(first.status).toBe("fulfilled");
  expect(rest).toMatchObject(Array(2).fill({ status: "rejected", reason: { kind: "journal", reason: "in_use" } }));
  expect(emulator.issues.list("web")).toHaveLength(3);
});
