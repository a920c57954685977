/** What `send` may do and what it may not, and what is then known of its item. */
import { describe, expect, test } from "vitest";
import { bulkWrite, memoryJournal, type SendOptions } from "../../src/bulk/index.ts";
import { ArgumentError, type Client } from "../../src/client/index.ts";
import { settleDown } from "../support/fake-time.ts";
import { createIssue, issueCounts, key, type Row, rowsOf, runToEnd, service } from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

type Send = (client: Client, row: Row, options: SendOptions) => Promise<unknown>;
const create = (client: Client, { title }: Row, options?: SendOptions) =>
  client.issues.create("web", { title, type: "bug" }, options);
const isRead = { match: ({ method }: { readonly method: string }) => method === "GET" };

describe("a send", () => {
  interface Case {
    readonly name: string;
    readonly send: Send;
    readonly message: RegExp;
    readonly requests: number;
  }
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
      name: "passes onRequest on, and not onResponse",
      send: (client, row, { onRequest }) => create(client, row, { onRequest } as SendOptions),
      message: /send must wait for its call, pass onResponse on, and not hide errors/,
      requests: 1,
    },
    {
      name: "hides a refusal",
      send: (client, { title }, options) =>
        client.issues.create("nowhere", { title, type: "bug" }, options).catch(() => "fine"),
      message: /send must not hide the errors of its call: it resolved although the response was 404/,
      requests: 1,
    },
    {
      name: "does not wait for the onRequest that it wraps",
      send: (client, row, options) =>
        create(client, row, {
          ...options,
          onRequest: (request) => {
            void options.onRequest(request);
          },
        } as SendOptions),
      message: /send must wait for its onRequest: a request left before its record was durable/,
      requests: 1,
    },
    {
      name: "does not wait for its call",
      send: async (client, row, options) => {
        let leave = (): void => {};
        const left = new Promise<void>((resolve) => {
          leave = resolve;
        });
        const onRequest = (request: { readonly callId: string }) => options.onRequest(request).then(leave);
        create(client, row, { ...options, onRequest }).catch(() => {});
        await left;
      },
      message: /send must wait for its call, pass onResponse on, and not hide errors/,
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

  describe("that wraps onRequest", () => {
    type OnRequest = SendOptions["onRequest"];
    const sendWith =
      (client: Client, wrap: (onRequest: OnRequest) => (request: { readonly callId: string }) => unknown) =>
      (row: Row, options: SendOptions) =>
        create(client, row, { ...options, onRequest: wrap(options.onRequest) } as SendOptions);

    test("and does not wait for it is found, also if the response takes longer than the record", async () => {
      const { emulator, client } = service();
      emulator.fault({ times: Number.POSITIVE_INFINITY, delayMs: 50 });
      const send = sendWith(client, (onRequest) => (request) => void onRequest(request));
      const run = bulkWrite({ items: rowsOf(3), key, journal: memoryJournal(), concurrency: 1, send });
      const { states, error } = await runToEnd(run);
      expect(String(error)).toMatch(/send must wait for its onRequest: a request left before its record was durable/);
      expect([states["row-1"], emulator.requests.length]).toEqual(["unknown", 1]);
    });

    test.each<[string, (onRequest: OnRequest) => OnRequest]>([
      ["returns it", (onRequest) => (request) => onRequest(request)],
      ["awaits it", (onRequest) => async (request) => await onRequest(request)],
      [
        "awaits it later",
        (onRequest) => async (request) => {
          const recorded = onRequest(request);
          await settleDown();
          await recorded;
        },
      ],
      ["awaits it with others", (onRequest) => async (request) => void (await Promise.all([onRequest(request)]))],
      ["chains it", (onRequest) => (request) => onRequest(request).finally(() => {})],
    ])("may do so, if it %s", async (_, wrap) => {
      const { client } = service();
      const run = bulkWrite({ items: rowsOf(3), key, journal: memoryJournal(), send: sendWith(client, wrap) });
      expect(await run.finish()).toMatchObject({ done: 3 });
    });

    test("and hides its failure sends nothing without a record, and no second request", async () => {
      const { emulator, client } = service();
      const journal = new WatchedJournal();
      journal.space = 3;
      const hiding = sendWith(client, (onRequest) => (request) => onRequest(request).catch(() => {}));
      const options = { items: rowsOf(4), key, concurrency: 1 };
      await runToEnd(bulkWrite({ ...options, journal, send: hiding }));
      expect(emulator.requests).toHaveLength(2);

      const twice = bulkWrite({
        ...options,
        journal: memoryJournal(),
        send: async (row, given) => [await hiding(row, given), await hiding(row, given)],
      });
      expect(String((await runToEnd(twice)).error)).toMatch(/send made a second call/);
      expect(emulator.requests).toHaveLength(3);
    });
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

  test.each([
    ["a limit", { status: 429, headers: { "retry-after": "600" } }, undefined],
    ["nothing there", { status: 404 }, undefined],
    ["a lost connection", { drop: "after" as const, times: 9 }, undefined],
    ["a missing scope", { status: 403 }, "permission"],
  ])("whose call after an accepted one fails has done its item: %s", async (_, fault, stops) => {
    const { emulator, client } = service({ retry: { minDelayMs: 1, maxRetryAfterMs: 1 } });
    emulator.fault({ ...isRead, ...fault });
    const options = { items: rowsOf(1), key, journal: memoryJournal() };
    const run = bulkWrite({
      ...options,
      send: async (row, given) => {
        const made = await create(client, row, given);
        await client.projects.list({}, { signal: given.signal }).page();
        return made;
      },
    });
    const { entries } = await runToEnd(run);
    expect(entries).toMatchObject([{ state: "done", error: { method: "GET" } }]);
    expect(run.stoppedBy?.kind).toBe(stops);
    await bulkWrite({ ...options, send: createIssue(client) }).finish();
    expect(issueCounts(emulator)).toEqual({ "Issue 1": 1 });
  });

  test("whose other call fails while its write is on its way leaves the item unknown", async () => {
    const { emulator, client } = service({ retry: false });
    emulator.fault({ ...isRead, status: 404 });
    emulator.fault({ match: ({ method }) => method === "POST", delayMs: Number.POSITIVE_INFINITY });
    const run = bulkWrite({
      items: rowsOf(1),
      key,
      journal: memoryJournal(),
      send: (row, options) =>
        Promise.all([
          create(client, row, options),
          expect
            .poll(() => emulator.requests.length, { interval: 1 })
            .toBe(1)
            .then(() => client.projects.list({}, { signal: options.signal }).page()),
        ]),
    });
    expect((await runToEnd(run)).entries).toMatchObject([{ state: "unknown", error: { kind: "not_found" } }]);
  });

  test.each([[404], [503]])(
    "whose read before the write is answered %i has not sent its item, and the run goes on",
    async (status) => {
      const { emulator, client } = service({ retry: false });
      emulator.fault({ ...isRead, status });
      const options = { items: rowsOf(3), key, journal: memoryJournal(), concurrency: 1 };
      const send: Send = async (_, row, given) => {
        await client.projects.list({}, { signal: given.signal }).page();
        return create(client, row, given);
      };
      const { entries, error } = await runToEnd(
        bulkWrite({ ...options, send: (row, given) => send(client, row, given) }),
      );
      expect(error).toBeUndefined();
      expect(entries).toMatchObject([{ state: "not_sent", error: { status } }, { state: "done" }, { state: "done" }]);
      expect(await bulkWrite({ ...options, send: createIssue(client) }).finish()).toMatchObject({
        done: 3,
        skipped: 2,
      });
    },
  );

  test("that forgets its options is found by its first request, however many may be under way", async () => {
    const { emulator, client } = service({ maxConcurrency: 50 });
    const run = bulkWrite({
      items: rowsOf(200),
      key,
      journal: memoryJournal(),
      concurrency: 50,
      send: (row) => create(client, row),
    });
    const { states, error } = await runToEnd(run);
    expect(String(error)).toMatch(/send must pass its options on/);
    expect([emulator.requests.length, Object.keys(states).length]).toEqual([1, 200]);
  });

  test("is called for many once a request of one was announced, without waiting for the response", async () => {
    const { emulator, client } = service({ maxConcurrency: 20 });
    const silence = emulator.fault({ times: Number.POSITIVE_INFINITY, delayMs: Number.POSITIVE_INFINITY });
    const stop = new AbortController();
    const options = { items: rowsOf(40), key, send: createIssue(client), journal: memoryJournal(), graceMs: 0 };
    const ended = runToEnd(bulkWrite({ ...options, concurrency: 20, signal: stop.signal }));
    await expect.poll(() => silence.hits, { interval: 1 }).toBe(20);
    stop.abort();
    await ended;
  });

  test("is called for the next if the first sent nothing", async () => {
    const { client } = service();
    const send: Send = (_, row, given) =>
      row.id === "row-4"
        ? create(client, row, given)
        : Promise.reject(new ArgumentError("no", { outcome: "not_sent" }));
    const run = bulkWrite({
      items: rowsOf(6),
      key,
      journal: memoryJournal(),
      send: (row, given) => send(client, row, given),
    });
    expect(await run.finish()).toMatchObject({ done: 1, not_sent: 5 });
  });

  test("does not keep unknown items from being looked at together", async () => {
    const { emulator, client } = service();
    const lost = emulator.fault({ drop: "after", times: 6 });
    const options = { items: rowsOf(6), key, send: createIssue(client), journal: memoryJournal() };
    expect(await bulkWrite(options).finish()).toMatchObject({ unknown: 6 });
    lost.remove();
    let asked = 0;
    const run = bulkWrite({
      ...options,
      resolveUnknown: async () => {
        asked += 1;
        await expect.poll(() => asked, { interval: 1 }).toBe(6);
        expect(run.progress).toMatchObject({ resolving: expect.any(Number), underWay: 6 });
        return "not_applied" as const;
      },
    });
    expect(await run.finish()).toMatchObject({ done: 6 });
  });
});

describe("what cannot be read", () => {
  const revoked = (): object => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  const throwing = (): Error =>
    Object.defineProperty(new Error(), "message", {
      get: () => {
        throw new RangeError("do not read me");
      },
    });

  test.each([
    ["a revoked proxy", revoked],
    ["an error that throws", throwing],
  ])("%s as what send rejects with: the run ends, and its item is unknown", async (_, make) => {
    const options = { items: rowsOf(3), key, journal: memoryJournal(), concurrency: 1 };
    const { states, error } = await runToEnd(bulkWrite({ ...options, send: () => Promise.reject(make()) }));
    expect(error).toMatchObject({ kind: "argument" });
    expect(JSON.stringify(error)).toContain("does not tell whether");
    expect(states).toEqual({ "row-1": "unknown", "row-2": "not_sent", "row-3": "not_sent" });
  });

  test.each<[string, () => unknown]>([
    ["rejects", () => Promise.reject(revoked())],
    ["returns a proxy", () => revoked()],
    [
      "throws a proxy",
      () => {
        throw revoked();
      },
    ],
  ])("a reference that %s leaves its item done", async (_, reference) => {
    const { client } = service();
    const options = { items: rowsOf(2), key, send: createIssue(client), journal: memoryJournal() };
    const { entries } = await runToEnd(bulkWrite({ ...options, reference: reference as () => string }));
    expect(entries).toMatchObject(Array(2).fill({ state: "done", error: { kind: "argument" } }));
    await settleDown();
  });

  test.each<[string, () => unknown]>([
    ["rejects", () => Promise.reject(revoked())],
    [
      "throws",
      () => {
        throw revoked();
      },
    ],
  ])("a pausedUntil that %s is no pause", async (_, pausedUntil) => {
    const { client } = service();
    const options = { items: rowsOf(2), key, send: createIssue(client), journal: memoryJournal() };
    const run = bulkWrite({ ...options, pausedUntil: pausedUntil as () => Date });
    for await (const _ of run) expect(run.progress.pausedUntil).toBeUndefined();
    expect(run.progress).toMatchObject({ done: 2, pausedUntil: undefined });
  });

  test.each<[string, () => unknown]>([
    ["key", () => Promise.reject(revoked())],
    ["a journal's load", () => Promise.reject(revoked())],
    ["a journal's append", () => Promise.reject(revoked())],
    ["a stream", () => Promise.reject(revoked())],
    ["resolveUnknown", () => Promise.reject(revoked())],
  ])("from %s ends the run with an error of ours", async (where, fail) => {
    const { client } = service();
    const journal = new WatchedJournal();
    if (where === "a journal's load") journal.load = fail as typeof journal.load;
    if (where === "a journal's append") journal.append = fail as typeof journal.append;
    const stream = { [Symbol.asyncIterator]: () => ({ next: fail as () => Promise<IteratorResult<Row>> }) };
    const at = new Date(0).toISOString();
    if (where === "resolveUnknown") await journal.append([{ key: "row-1", state: "unknown", at }]);
    const run = bulkWrite<Row, unknown>({
      items: where === "a stream" ? stream : rowsOf(2),
      key: where === "key" ? (fail as typeof key) : key,
      send: createIssue(client),
      journal,
      resolveUnknown: fail as () => Promise<"applied">,
    });
    const { entries, error } = await runToEnd(run);
    const failures = [error, ...entries.map((entry) => entry.error)].filter((one) => one !== undefined);
    expect(failures.length).toBeGreaterThan(0);
    for (const failure of failures) expect(String(failure)).toMatch(/^(ArgumentError|JournalError|AbortError): /);
    expect(journal.closed).toBe(1);
  });
});
