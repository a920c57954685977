/** The client that `send` is called with: one write, whatever `send` does with the promise. */
import { describe, expect, test } from "vitest";
import { bulkWrite, memoryJournal, SendError } from "../../src/bulk/index.ts";
import { ArgumentError, type Client, path } from "../../src/client/index.ts";
import { settleDown } from "../support/fake-time.ts";
import { send as create, issueCounts, key, type Row, rowsOf, runToEnd, service, titled } from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

type Send = (client: Client, row: Row) => PromiseLike<unknown>;
const ignore = (): undefined => undefined;
const isRead = { match: ({ method }: { readonly method: string }) => method === "GET" };

/** Rows that meet a fault each: the state of an item is that of its write. */
const FAULTS = [
  { title: "Issue 1", fault: undefined, state: "done" },
  { title: "Issue 2", fault: { status: 422 }, state: "refused" },
  { title: "Issue 3", fault: { drop: "after" as const }, state: "unknown" },
  { title: "Issue 4", fault: { status: 404 }, state: "not_sent" },
  { title: "Issue 5", fault: { status: 201, apply: true, body: "<html>" }, state: "unknown" },
];

describe("a send that", () => {
  test.each<[string, Send]>([
    ["returns the promise", create],
    ["awaits it", async (client, row) => await create(client, row)],
    ["catches its error", (client, row) => create(client, row).catch(ignore)],
    [
      "wraps its error",
      (client, row) =>
        create(client, row).catch((cause: unknown) => {
          throw cause instanceof Error ? new Error("wrapped", { cause }) : cause;
        }),
    ],
    ["races it", (client, row) => Promise.race([create(client, row).catch(ignore), Promise.resolve("early")])],
    [
      "forgets it",
      async (client, row) => {
        void create(client, row); // an unhandled rejection would fail this suite
      },
    ],
    ["chains it", (client, row) => create(client, row).then(({ number }) => number, ignore)],
    ["asks for its response", (client, row) => create(client, row).withResponse()],
    ["forgets its response", async (client, row) => void create(client, row).withResponse().catch(ignore)],
    ["derives a client", (client, row) => create(client.withOptions({ timeoutMs: 5_000 }), row)],
    [
      "uses its own onRequest",
      (client, { title }) => client.issues.create("web", { title, type: "bug" }, { onRequest: () => settleDown() }),
    ],
    [
      "writes by a custom request",
      (client, { title }) =>
        client.request({ method: "POST", path: path`/projects/web/issues`, json: { title, type: "bug" } }),
    ],
    [
      "reads before and after",
      async (client, row) => {
        await client.projects.list().page();
        const made = await create(client, row);
        await client.projects.list().page();
        return made;
      },
    ],
    ["reads beside", (client, row) => Promise.all([create(client, row), client.projects.list().toArray({ max: 1 })])],
  ])("%s leaves each item in the state of its write", async (_, send) => {
    const { emulator, client } = service();
    for (const { title, fault } of FAULTS) if (fault !== undefined) emulator.fault({ ...titled(title), ...fault });
    const journal = new WatchedJournal();
    const options = { client, items: rowsOf(5), key, send, journal };
    const { states, error } = await runToEnd(bulkWrite(options));
    const expected = Object.fromEntries(FAULTS.map(({ state }, index) => [`row-${index + 1}`, state]));
    expect([states, error]).toEqual([expected, undefined]);
    const writes = emulator.requests.filter(({ method }) => method === "POST");
    expect(writes).toHaveLength(5);
    // All of it is in the journal.
    expect((await runToEnd(bulkWrite({ ...options, send: create }))).states).toEqual({
      ...expected,
      "row-2": "done",
      "row-4": "done",
    });
  });

  const TWICE: readonly [string, Send][] = [
    ["at once", (client, row) => Promise.all([create(client, row), create(client, row)])],
    [
      "and awaits only the first",
      async (client, row) => {
        const first = create(client, row);
        void create(client, row);
        return await first;
      },
    ],
    [
      "and awaits only the second",
      async (client, row) => {
        void create(client, row);
        return await create(client, row);
      },
    ],
    ["and awaits neither", async (client, row) => void [create(client, row), create(client, row)]],
    [
      "one after the other has ended, and forgets it",
      async (client, row) => {
        await create(client, row).catch(ignore);
        void create(client.withOptions({}), row);
      },
    ],
    [
      "one after the other has ended, and catches its error",
      async (client, row) => {
        await create(client, row).catch(ignore);
        return await create(client, row).catch(ignore);
      },
    ],
  ];

  describe.each(TWICE)("makes two writes %s", (_, twice) => {
    test.each([
      ["done", {}],
      ["refused", { fault: { status: 422 } }],
    ])("fails its run, and its item is %s, as its first write is", async (state, { fault }: { fault?: object }) => {
      const { emulator, client } = service();
      if (fault !== undefined) emulator.fault({ ...fault });
      const run = bulkWrite({ client, items: rowsOf(3), key, send: twice, journal: memoryJournal(), concurrency: 1 });
      const { states, error } = await runToEnd(run);
      const message = "one item is one write: send has made a second one, which was not sent";
      expect(error).toBeInstanceOf(ArgumentError);
      expect(error).toMatchObject({ message, outcome: "not_sent" });
      expect([states, run.stoppedBy]).toEqual([{ "row-1": state }, error]);
      expect(emulator.requests).toHaveLength(1);
      await settleDown();
    });
  });

  test.each<[string, Send, string, RegExp]>([
    ["fails before its write", () => Promise.reject(new TypeError("no such field")), "argument", /no such field/],
    [
      "throws",
      () => {
        throw new TypeError("no such field");
      },
      "argument",
      /send failed before its write: no such field/,
    ],
    [
      "has invalid arguments",
      (client) => client.issues.create("web", { title: 7, type: "bug" } as never),
      "argument",
      /title/,
    ],
    ["fails to read", (client) => client.sessions.get("gone"), "not_found", /there is no such session/],
    ["says so itself", () => Promise.reject(new ArgumentError("not this one")), "argument", /not this one/],
  ])("%s leaves its item not_sent with that error, and the run goes on", async (...[, send, kind, message]) => {
    const { emulator, client } = service();
    const some: Send = (bound, row) => (row.id === "row-2" ? send(bound, row) : create(bound, row));
    const options = { client, items: rowsOf(3), key, journal: memoryJournal() };
    const { entries, states, error } = await runToEnd(bulkWrite({ ...options, send: some }));
    expect([states, error]).toMatchObject([{ "row-1": "done", "row-2": "not_sent", "row-3": "done" }, undefined]);
    const failed = entries.find((entry) => entry.key === "row-2");
    expect(failed).toMatchObject({ error: { kind }, reason: { kind, message: expect.stringMatching(message) } });
    expect(await bulkWrite({ ...options, send: create })).toMatchObject({ done: 3, skipped: 2 });
    expect(Object.values(issueCounts(emulator))).toEqual([1, 1, 1]);
  });

  test.each<[string, (client: Client) => Send, number]>([
    ["sends nothing", () => async () => "nothing", 0],
    ["reads only", () => (bound) => bound.projects.list().page(), 1],
    ["writes with a client of its own", (outer) => (_, row) => create(outer, row), 1],
  ])("%s ends the run: its item may have been written by another client", async (_, of, requests) => {
    const { emulator, client } = service();
    const options = { client, items: rowsOf(3), key, journal: memoryJournal(), concurrency: 1 };
    const { states, error } = await runToEnd(bulkWrite({ ...options, send: of(client) }));
    expect(error).toBeInstanceOf(ArgumentError);
    expect(String(error)).toMatch(
      /send must write with the client that it is called with.*it resolved without a write/,
    );
    expect(states).toEqual({ "row-1": "unknown" });
    expect(emulator.requests).toHaveLength(requests);
    const next = await runToEnd(bulkWrite({ ...options, send: create }));
    expect(next.states).toEqual({ "row-1": "unknown", "row-2": "done", "row-3": "done" });
  });

  test("runs another one with the client of its item: refused before anything is sent", async () => {
    const { emulator, client } = service();
    const journal = memoryJournal();
    const nested: Send = (bound, row) =>
      bulkWrite({ client: bound.withOptions({}), items: [row], key, send: create, journal: memoryJournal() });
    const { states, entries } = await runToEnd(bulkWrite({ client, items: rowsOf(1), key, journal, send: nested }));
    expect(String(entries[0]?.error)).toMatch(
      /options.client is that of one item, for one write: begin this run outside of send/,
    );
    expect([states, emulator.requests]).toEqual([{ "row-1": "not_sent" }, []]);
  });

  test("fails by itself after its write ends the run, and the next run goes on behind it", async () => {
    const { emulator, client } = service();
    const options = { client, items: rowsOf(3), key, journal: memoryJournal(), concurrency: 1 };
    const crash = new TypeError("the database is down");
    const fails: Send = async (bound, row) => {
      await create(bound, row);
      throw crash;
    };
    const run = bulkWrite({ ...options, send: fails });
    const { states, error } = await runToEnd(run);
    expect(states).toEqual({ "row-1": "done" });
    expect(error).toBeInstanceOf(SendError);
    expect(error).toMatchObject({
      kind: "send",
      outcome: "accepted",
      key: "row-1",
      result: { title: "Issue 1" },
      cause: crash,
    });
    expect(String(error)).toMatch(/the item "row-1" is done: the database is down/);
    expect(run.stoppedBy).toBe(error);
    expect(await bulkWrite({ ...options, send: create })).toMatchObject({ done: 3, skipped: 1 });
    expect(Object.values(issueCounts(emulator))).toEqual([1, 1, 1]);
  });

  test.each([
    ["a limit", { status: 429, headers: { "retry-after": "600" } }, undefined],
    ["a lost connection", { drop: "after" as const, times: 9 }, undefined],
    ["a missing scope", { status: 403 }, "permission"],
  ])("reads after its write, and meets %s: the item is done", async (_, fault, stops) => {
    const { emulator, client } = service();
    emulator.fault({ ...isRead, ...fault });
    const readAfter: Send = async (bound, row) => {
      const made = await create(bound, row);
      if (row.id === "row-1") await bound.projects.list().page();
      return made;
    };
    const run = bulkWrite({ client, items: rowsOf(1), key, send: readAfter, journal: memoryJournal() });
    const { entries, error } = await runToEnd(run);
    expect(error).toBeUndefined();
    expect(entries).toMatchObject([{ state: "done", error: expect.anything(), reason: undefined }]);
    expect(run.stoppedBy?.kind).toBe(stops);
  });

  test("keeps its client sends nothing with it after its end", async () => {
    const { emulator, client } = service();
    const kept: Client[] = [];
    const keep: Send = async (bound) => {
      kept.push(bound);
      throw new TypeError("not now");
    };
    await runToEnd(bulkWrite({ client, items: rowsOf(1), key, send: keep, journal: memoryJournal() }));
    const late = await Promise.all(
      kept.map((bound) => create(bound, { id: "x", title: "late" }).catch((e: unknown) => e)),
    );
    expect(late).toMatchObject([{ kind: "argument", message: expect.stringContaining("send had ended before") }]);
    expect(emulator.requests).toEqual([]);
  });
});

describe("the refusal of another client", () => {
  test("before the write is that row's: the others are written", async () => {
    const { client } = service();
    const source = service();
    source.emulator.fault({ skip: 2, status: 403 });
    const move: Send = async (bound, row) => {
      await source.client.projects.list().page();
      return await create(bound, row);
    };
    const options = { client, items: rowsOf(9), key, journal: memoryJournal(), stopAfter: 1, concurrency: 1 };
    const run = bulkWrite({ ...options, send: move });
    const { entries, error } = await runToEnd(run);
    expect([error, run.stoppedBy]).toEqual([undefined, undefined]);
    expect(run.summary).toMatchObject({ done: 8, not_sent: 1 });
    expect(entries[2]).toMatchObject({ state: "not_sent", error: { kind: "permission" } });
  });
});
