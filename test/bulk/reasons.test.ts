/** The reason of every item that is not done, in the run that saw it and in each later one. */
import { describe, expect, test } from "vitest";
import { bulkWrite, type JournalRecord } from "../../src/bulk/index.ts";
import { key, rowsOf, runToEnd, send, service } from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

const ISO = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const body = { error: "taken", message: "this title is taken" };

describe("the reason of an item", () => {
  test.each<[string, object, object]>([
    [
      "refused",
      { status: 409, body },
      { kind: "conflict", status: 409, code: "taken", message: "this title is taken" },
    ],
    ["not_sent", { status: 404 }, { kind: "not_found", status: 404 }],
    ["unknown", { status: 500, body: { error: "internal" } }, { kind: "server", status: 500, code: "internal" }],
    ["unknown", { drop: "after" }, { kind: "connection", message: expect.stringContaining("issues.create") }],
  ])("that is %s tells what happened, also in a later run: %j", async (state, fault, expected) => {
    const { emulator, client } = service();
    emulator.fault({ ...fault });
    const options = { client, items: rowsOf(1), key, send, journal: new WatchedJournal() };
    const [first] = (await runToEnd(bulkWrite(options))).entries;
    expect(first).toMatchObject({ state, reason: { ...expected, recordedAt: expect.stringMatching(ISO) } });
    expect(first?.error).toMatchObject({ kind: first?.reason?.kind });

    expect(options.journal.records.at(-1)).toMatchObject({ state, reason: first?.reason });
    if (state !== "unknown") return; // it is sent again
    for (let later = 0; later < 2; later += 1) {
      const [entry] = (await runToEnd(bulkWrite(options))).entries;
      expect(entry).toMatchObject({ state, error: undefined, reason: first?.reason });
    }
    expect(emulator.requests).toHaveLength(1);
  });

  test("has no token of the client, also where the application's own code quotes it", async () => {
    const { client, emulator } = service();
    const { token } = emulator;
    const journal = new WatchedJournal();
    const failing = (): never => {
      throw new Error(`GET https://other.test/ failed with ${token}`);
    };
    const run = bulkWrite({ client, items: rowsOf(1), key, send: failing, journal, stopAfter: 1 });
    const { entries } = await runToEnd(run);
    expect(entries[0]?.reason?.message).toContain("failed with [redacted]");
    const told = [entries[0]?.reason, entries[0]?.error?.message, journal.records, run.stoppedBy?.message];
    expect(JSON.stringify(told)).not.toContain(token);
  });

  test("has the request id, and no secret, on one line of at most 300 characters", async () => {
    const { emulator, client } = service();
    const { token } = emulator;
    const message = `first\nsecond ${token} ${"x".repeat(500)}`;
    emulator.fault({ status: 422, body: { error: "invalid", message }, headers: { "x-request-id": "req-7" } });
    const journal = new WatchedJournal();
    const [entry] = (await runToEnd(bulkWrite({ client, items: rowsOf(1), key, send, journal }))).entries;
    expect(entry?.reason).toMatchObject({ requestId: "req-7", message: expect.stringMatching(/^first second /) });
    expect(entry?.reason?.message.length).toBeLessThanOrEqual(300);
    expect(JSON.stringify([entry, journal.records])).not.toContain(token);
  });

  test("that a crash left unknown is that it was interrupted, when its request was recorded", async () => {
    const { emulator, client } = service();
    const journal = new WatchedJournal();
    const at = "2026-01-01T09:30:00.000Z";
    await journal.append([{ key: "row-1", state: "sending", at }]);
    const options = { client, items: rowsOf(1), key, send, journal };
    for (let run = 0; run < 3; run += 1) {
      const [entry] = (await runToEnd(bulkWrite(options))).entries;
      expect(entry).toMatchObject({ state: "unknown", reason: { kind: "interrupted", recordedAt: at } });
    }
    expect(emulator.requests).toEqual([]);
  });
});

test("a 429 is recorded when it comes, and a request that follows has a record again", async () => {
  const { emulator, client } = service();
  emulator.fault({ status: 429, headers: { "retry-after": "0" } });
  const journal = new WatchedJournal();
  const atRequest: JournalRecord[][] = [];
  emulator.fault({ match: () => atRequest.push(journal.records) < 0, status: 500 });
  expect(await bulkWrite({ client, items: rowsOf(1), key, send, journal })).toMatchObject({ done: 1 });
  expect(journal.records.map(({ state }) => state)).toEqual(["sending", "not_sent", "sending", "done"]);
  expect(journal.records[1]?.reason).toMatchObject({ kind: "interrupted" });
  expect(atRequest.map((records) => records.at(-1)?.state)).toEqual(["sending", "sending"]);
});

test("a 429 after an attempt that may have been applied is not recorded as not_sent", async () => {
  const { emulator, client } = service({ retry: { unsafeWrites: true, minDelayMs: 1, maxDelayMs: 1 } });
  emulator.fault({ drop: "after" });
  emulator.fault({ skip: 1, status: 429, headers: { "retry-after": "0" } });
  const journal = new WatchedJournal();
  await runToEnd(bulkWrite({ client, items: rowsOf(1), key, send, journal }));
  expect(journal.records.map(({ state }) => state)).toEqual(["sending", "done"]);
});
