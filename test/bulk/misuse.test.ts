/** What cannot be worked with is an error before anything is sent, or before anything more is sent. */
import { describe, expect, test } from "vitest";
import { type BulkOptions, bulkWrite, memoryJournal, type SendOptions } from "../../src/bulk/index.ts";
import { ArgumentError, type Client } from "../../src/index.ts";
import { settleDown } from "../support/fake-time.ts";
import { createIssue, key, type Row, rowsOf, runToEnd, service } from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

describe("options", () => {
  const good = { items: rowsOf(2), key, send: async () => 1, journal: memoryJournal() };

  test.each<[string, Record<string, unknown> | undefined, RegExp]>([
    ["none", undefined, /options.items must be an iterable/],
    [
      "no items",
      { ...good, items: undefined },
      /options.items must be an iterable or an async iterable of items, not undefined/,
    ],
    ["a string as items", { ...good, items: "abc" }, /options.items must be .* not a string/],
    ["no key", { ...good, key: undefined }, /options.key must be a function/],
    ["no send", { ...good, send: null }, /options.send must be a function, not null/],
    [
      "a path as journal",
      { ...good, journal: "import.journal" },
      /options.journal must be a journal with the methods load, append/,
    ],
    ["a promise of a journal", { ...good, journal: Promise.resolve() }, /options.journal must be a journal/],
    ["a concurrency of 0", { ...good, concurrency: 0 }, /options.concurrency must be a whole number from 1 up, not 0/],
    ["no end of concurrency", { ...good, concurrency: Number.POSITIVE_INFINITY }, /options.concurrency must be/],
    ["a negative grace", { ...good, graceMs: -1 }, /options.graceMs must be/],
    ["a controller as signal", { ...good, signal: new AbortController() }, /options.signal must be an AbortSignal/],
    ["a misspelt option", { ...good, concurency: 4 }, /unknown key "concurency"; accepted: items, key, send, journal/],
  ])("%s: an ArgumentError at the iteration", async (_, options, message) => {
    const run = bulkWrite(options as unknown as BulkOptions<Row, unknown>); // that is what is wrong with it
    const { entries, error } = await runToEnd(run);
    expect(entries).toEqual([]);
    expect(error).toBeInstanceOf(ArgumentError);
    expect(String(error)).toMatch(message);
    await expect(run.finish()).rejects.toBe(error);
    expect(run.summary).toEqual({ done: 0, refused: 0, not_sent: 0, unknown: 0, skipped: 0 });
  });

  test("that change afterwards change nothing", async () => {
    const { client } = service();
    const options = { items: rowsOf(2), key, send: createIssue(client), journal: memoryJournal() };
    const run = bulkWrite(options);
    options.send = () => expect.fail("called");
    await run.finish();
    expect(run.summary.done).toBe(2);
  });

  test("may be undefined, where they may be left out", async () => {
    const { client } = service();
    const run = bulkWrite({
      items: rowsOf(1),
      key,
      send: createIssue(client),
      journal: memoryJournal(),
      concurrency: undefined,
      resolveUnknown: undefined,
      reference: undefined,
      retryRefused: undefined,
      signal: undefined,
      graceMs: undefined,
      pausedUntil: undefined,
    });
    expect((await run.finish()).done).toBe(1);
  });
});

test("a run is iterated once", async () => {
  const { client } = service();
  const run = bulkWrite({ items: rowsOf(2), key, send: createIssue(client), journal: memoryJournal() });
  await run.finish();
  expect((await runToEnd(run)).error).toMatchObject({ kind: "argument", message: "a run can be iterated only once" });
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
    const { error } = await runToEnd(bulkWrite({ items, key, send: createIssue(client), journal }));
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
      bulkWrite({ items: stream(), key, send: createIssue(client), journal: memoryJournal() }),
    );
    expect(error).toMatchObject({ kind: "argument", message: expect.stringMatching(/ has "row-1"$/) });
    const sent = Object.values(states).filter((state) => state === "done");
    expect([Object.keys(states).length, emulator.requests.length, cleanedUp]).toEqual([4, sent.length, true]);
  });

  test.each<[string, unknown, RegExp]>([
    ["empty", () => "", /key of item 1 must be a string that is not empty, not an empty string/],
    ["a number", () => 7, /key of item 1 must be .* not a number/],
    ["missing", ({ id }: Row) => (id === "row-3" ? undefined : id), /key of item 3 must be .* not undefined/],
    [
      "a failure",
      () => {
        throw new Error("no id");
      },
      /key failed for item 1/,
    ],
  ])("that are %s end the run before anything is sent", async (_, bad, message) => {
    const { emulator, client } = service();
    const options = { items: rowsOf(3), key: bad as typeof key, send: createIssue(client), journal: memoryJournal() };
    const { error } = await runToEnd(bulkWrite(options));
    expect(error).toBeInstanceOf(ArgumentError);
    expect(String(error)).toMatch(message);
    expect(emulator.requests).toEqual([]);
  });

  test("may be any string", async () => {
    const { client } = service();
    const items = ["__proto__", "\n", "\ud800", "ключ", " ", "constructor"].map((id) => ({ id, title: "t" }));
    const journal = memoryJournal();
    const options = { items, key, send: createIssue(client), journal };
    expect((await bulkWrite(options).finish()).done).toBe(6);
    expect((await bulkWrite(options).finish()).skipped).toBe(6);
  });
});

describe("a send", () => {
  type Send = (client: Client, row: Row, options: SendOptions) => Promise<unknown>;
  interface Case {
    readonly name: string;
    readonly send: Send;
    readonly message: RegExp;
    readonly requests: number;
  }
  const create = (client: Client, { title }: Row, options?: SendOptions) =>
    client.issues.create("web", { title, type: "bug" }, options);

  test.each<Case>([
    {
      name: "does not pass its options on",
      send: (client, row) => create(client, row),
      message: /send must pass its options on to the client's method.* it resolved without a recorded request/,
      requests: 1,
    },
    {
      name: "passes only the signal on",
      send: (client, { title }, { signal }) => client.issues.create("web", { title, type: "bug" }, { signal }),
      message: /send must pass its options on/,
      requests: 1,
    },
    {
      name: "does not pass its options on, and is refused",
      send: (client, { title }) => client.issues.create("nowhere", { title, type: "bug" }),
      message: /send must pass its options on.* it failed after a request without a record: .*404/,
      requests: 1,
    },
    {
      name: "sends nothing",
      send: async () => "nothing",
      message: /it resolved without a recorded request/,
      requests: 0,
    },
    {
      name: "makes two calls",
      send: async (client, row, options) => [await create(client, row, options), await create(client, row, options)],
      message: /send made a second call with its options; one item is one write, so the second was not sent/,
      requests: 1,
    },
    {
      name: "makes a second call, and hides its failure",
      send: async (client, row, options) => {
        await create(client, row, options);
        return create(client, row, options).catch(() => "fine");
      },
      message: /send made a second call/,
      requests: 1,
    },
    {
      name: "fails by itself before its request",
      send: () => Promise.reject(new TypeError("no such field")),
      message: /send failed with something that does not tell whether the item was written: no such field/,
      requests: 0,
    },
    {
      name: "throws",
      send: () => {
        throw new TypeError("no such field");
      },
      message: /does not tell whether the item was written: no such field/,
      requests: 0,
    },
    {
      name: "fails by itself after its request",
      send: async (client, row, options) => {
        await create(client, row, options);
        throw new Error("the database is down");
      },
      message: /does not tell whether the item was written: the database is down/,
      requests: 1,
    },
  ])("that $name ends the run, and its item is unknown", async ({ send, message, requests }) => {
    const { emulator, client } = service();
    const journal = memoryJournal();
    const options = { items: rowsOf(3), key, journal, concurrency: 1 };
    const { states, error } = await runToEnd(bulkWrite({ ...options, send: (row, given) => send(client, row, given) }));
    expect(error).toBeInstanceOf(ArgumentError);
    expect(String(error)).toMatch(message);
    expect(states).toEqual({ "row-1": "unknown", "row-2": "not_sent", "row-3": "not_sent" });
    expect(emulator.requests).toHaveLength(requests);
    // It has been recorded, so the next run does not send it either.
    const next = await runToEnd(bulkWrite({ ...options, send: createIssue(client) }));
    expect(next.states).toEqual({ "row-1": "unknown", "row-2": "done", "row-3": "done" });
  });

  test("that makes two calls at once sends one of them at most", async () => {
    const { emulator, client } = service();
    const send: Send = (_, row, options) => Promise.all([create(client, row, options), create(client, row, options)]);
    const options = { items: rowsOf(2), key, journal: memoryJournal(), concurrency: 1 };
    const run = bulkWrite({ ...options, send: (row, given) => send(client, row, given) });
    const { states, error } = await runToEnd(run);
    expect(String(error)).toMatch(/send made a second call/);
    expect(states).toEqual({ "row-1": "unknown", "row-2": "not_sent" });
    await settleDown();
    expect(emulator.requests.length).toBeLessThanOrEqual(1);
  });

  test("that does not wait for its call sends nothing after it has settled", async () => {
    const { emulator, client } = service();
    const left: Promise<unknown>[] = [];
    const send = async (row: Row, options: SendOptions): Promise<never> => {
      left.push(create(client, row, options).catch((error: unknown) => error));
      throw new ArgumentError("not this one", { outcome: "not_sent" });
    };
    const { states } = await runToEnd(bulkWrite({ items: rowsOf(2), key, journal: memoryJournal(), send }));
    expect(states).toEqual({ "row-1": "not_sent", "row-2": "not_sent" });
    expect(await Promise.all(left)).toMatchObject([{ kind: "abort" }, { kind: "abort" }]);
    expect(emulator.requests).toEqual([]);
  });

  test("may say that it has sent nothing", async () => {
    const { client } = service();
    const send = async (): Promise<never> => {
      throw new ArgumentError("there is no such project", { outcome: "not_sent" });
    };
    const options = { items: rowsOf(3), key, journal: memoryJournal() };
    const { states, error } = await runToEnd(bulkWrite({ ...options, send }));
    expect(error).toBeUndefined();
    expect(Object.values(states)).toEqual(["not_sent", "not_sent", "not_sent"]);
    expect((await bulkWrite({ ...options, send: createIssue(client) }).finish()).done).toBe(3);
  });

  test("may read before it writes, without onRequest", async () => {
    const { client } = service();
    const run = bulkWrite({
      items: rowsOf(3),
      key,
      journal: memoryJournal(),
      send: async (row, options) => {
        const [project] = await client.projects.list({}, { signal: options.signal }).toArray({ max: 1 });
        return client.issues.create(project?.id ?? "", { title: row.title, type: "bug" }, options);
      },
    });
    expect((await run.finish()).done).toBe(3);
  });
});
