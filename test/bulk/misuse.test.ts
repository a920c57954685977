/** What cannot be worked with is an error before anything is sent, or before anything more is sent. */
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { type BulkOptions, bulkWrite, memoryJournal } from "../../src/bulk/index.ts";
import { ArgumentError } from "../../src/client/index.ts";
import { issueCounts, key, type Row, rowsOf, runToEnd, send, service } from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

describe("options", () => {
  const { client } = service();
  const good = { client, items: rowsOf(2), key, send: async () => 1, journal: memoryJournal() };

  test.each<[string, Record<string, unknown> | undefined, RegExp]>([
    ["none", undefined, /options.client must be a Client of this package, not undefined/],
    ["the options of a client", { ...good, client: { token: "t" } }, /options.client must be a Client/],
    [
      "no items",
      { ...good, items: undefined },
      /options.items must be an iterable or an async iterable, not undefined/,
    ],
    [
      "a generator as items that was not called",
      { ...good, items: async function* none() {} },
      /options.items must be an iterable or an async iterable, not a function: call it$/,
    ],
    ["a string as items", { ...good, items: "abc" }, /options.items must be .* not "abc"/],
    ["no key", { ...good, key: undefined }, /options.key must be a function/],
    ["no send", { ...good, send: null }, /options.send must be a function, not null/],
    [
      "a path as journal",
      { ...good, journal: "import.journal" },
      /options.journal must be a journal with the methods load, append/,
    ],
    [
      "a promise of a journal",
      { ...good, journal: Promise.resolve() },
      /options.journal must be a journal .*, not a promise: await it/,
    ],
    ["a total that is none", { ...good, total: -1 }, /options.total must be a whole number from 0 up, not -1/],
    ["a concurrency of 0", { ...good, concurrency: 0 }, /options.concurrency must be a whole number from 1 up, not 0/],
    ["no end of concurrency", { ...good, concurrency: Number.POSITIVE_INFINITY }, /options.concurrency must be/],
    ["a stopAfter of 0", { ...good, stopAfter: 0 }, /options.stopAfter must be a whole number from 1 up, or false/],
    ["a negative grace", { ...good, graceMs: -1 }, /options.graceMs must be/],
    ["a controller as signal", { ...good, signal: new AbortController() }, /options.signal must be an AbortSignal/],
    [
      "a misspelt option",
      { ...good, concurency: 4 },
      /unknown key "concurency" \(did you mean "concurrency"\?\); accepted: client, items, key, send, journal/,
    ],
  ])("%s: an ArgumentError at once", (_, options, message) => {
    const begin = () => bulkWrite(options as unknown as BulkOptions<Row, unknown>); // that is what is wrong with it
    expect(begin).toThrow(ArgumentError);
    expect(begin).toThrow(message);
  });
});

describe("a collection that changes during the run", () => {
  type Change = (rows: Row[], current: Row) => unknown;
  test.each<[string, Change, RegExp]>([
    [
      "loses the items that have ended",
      (rows, current) => rows.splice(rows.indexOf(current), 1),
      /items must not change during the run.* it ended without: "row-\d+"/,
    ],
    [
      "gets an item at its beginning",
      (rows) => rows.length < 9 && rows.unshift({ id: "urgent", title: "Urgent" }),
      /items must not change.* it now has an item too many, or one again: "row-\d"/,
    ],
    ["gets an item at its end", (rows) => rows.length < 9 && rows.push({ id: "late", title: "Late" }), /again: "late"/],
    ["is turned round", (rows) => rows.reverse(), /items must not change/],
    [
      "is emptied",
      (rows) => rows.splice(0),
      /it ended without: (?:"row-2", )?"row-3", "row-4", "row-5", "row-6", "row-7", "row-8"/,
    ],
  ])("%s: an ArgumentError that names a key, and no issue twice", async (_, change, message) => {
    const { emulator, client } = service();
    const items = rowsOf(8);
    const run = bulkWrite({ items, key, client, send, journal: memoryJournal(), concurrency: 1 });
    const iterate = async (): Promise<void> => {
      for await (const { item } of run) change(items, item);
    };
    const error: unknown = await iterate().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ArgumentError);
    expect(String(error)).toMatch(message);
    const counts = Object.values(issueCounts(emulator));
    expect(counts).toEqual(counts.map(() => 1));
  });
});

describe("keys", () => {
  const collections: [string, (rows: Row[]) => Iterable<Row>][] = [
    ["an array", (rows) => rows],
    ["a set", (rows) => new Set(rows)],
  ];

  test.each(collections)("that occur twice in %s are all named before anything is sent", async (_, of) => {
    const { emulator, client } = service();
    const items = of([...rowsOf(4), ...rowsOf(2), { id: "row-1", title: "again" }]);
    const journal = new WatchedJournal();
    const { error } = await runToEnd(bulkWrite({ items, key, client, send, journal }));
    expect(error).toMatchObject({ kind: "argument", message: expect.stringMatching(/ has "row-1", "row-2"$/) });
    expect([emulator.requests.length, journal.records.length, journal.closed]).toEqual([0, 0, 1]);
  });

  test("that occur twice in a stream end the run before the second is sent", async () => {
    const { emulator, client } = service();
    let cleanedUp = false;
    async function* stream(): AsyncGenerator<Row> {
      try {
        yield* [...rowsOf(4), ...rowsOf(2), ...rowsOf(9).slice(6)];
      } finally {
        cleanedUp = true;
      }
    }
    const { states, error } = await runToEnd(
      bulkWrite({ items: stream(), key, client, send, journal: memoryJournal() }),
    );
    expect(error).toMatchObject({ kind: "argument", message: expect.stringMatching(/ has "row-1"$/) });
    const sent = Object.values(states).filter((state) => state === "done");
    expect([Object.keys(states).length, emulator.requests.length, cleanedUp]).toEqual([4, sent.length, true]);
  });

  test.each<[string, unknown, RegExp]>([
    ["empty", () => "", /key of item 1 must be a string that is not empty, not an empty string/],
    ["a number", () => 7, /key of item 1 must be .* not 7/],
    ["a promise", () => Promise.reject(new Error("no id")), /key of item 1 must be .* not a promise/],
    ["missing", ({ id }: Row) => (id === "row-3" ? undefined : id), /key of item 3 must be .* not undefined/],
    [
      "a failure",
      () => {
        throw new Error("no id");
      },
      /key failed for item 1: no id$/,
    ],
    [
      "a failure that names a secret",
      () => {
        throw new Error("no id\nwith token=4hG7kP2qWx9Zr1");
      },
      /key failed for item 1: no id with token=\[redacted\]$/,
    ],
  ])("that are %s end the run before anything is sent", async (_, bad, message) => {
    const { emulator, client } = service();
    const options = { items: rowsOf(3), key: bad as typeof key, client, send, journal: memoryJournal() };
    const { error } = await runToEnd(bulkWrite(options));
    expect(error).toBeInstanceOf(ArgumentError);
    expect(String(error)).toMatch(message);
    expect(emulator.requests).toEqual([]);
  });
});

describe("a token in what a function of the application throws is not reachable from the error of the run", () => {
  const { client, emulator } = service();
  const fail = (): never => {
    throw new Error(`no access with ${emulator.token}`);
  };
  const items = { [Symbol.asyncIterator]: () => ({ next: fail }) };
  test.each<[string, Partial<BulkOptions<Row, unknown>>, string]>([
    ["load", { journal: { load: fail, append: async () => {} } }, "the journal could not be loaded"],
    ["append", { journal: { load: () => [], append: fail } }, "the journal could not be written"],
    ["key", { key: fail }, "key failed for item 1"],
    ["a stream", { items }, "items failed"],
    ["an iterable", { items: { [Symbol.iterator]: fail } }, "items failed"],
    ["reference", { reference: fail }, "reference failed"],
  ])("%s", async (_, options, message) => {
    const journal = memoryJournal();
    const ended = await runToEnd(() => bulkWrite({ client, items: rowsOf(1), key, send, journal, ...options }));
    const error = ended.error ?? ended.entries[0]?.error;
    expect(error).toMatchObject({
      message: `${message}: no access with [redacted]`,
      cause: { message: "no access with [redacted]" },
    });
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain(emulator.token);
  });
});
