import { describe, expect, test, vi } from "vitest";
import { bulkWrite, memoryJournal } from "../../src/bulk/index.ts";
import { Client } from "../../src/client/index.ts";
import { createEmulator } from "../../src/testing/index.ts";
import { clientOf, issueCounts, key, rowsOf, runToEnd, send, service } from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

const at = "2026-01-01T09:30:00.000Z";
const elsewhere = "https://staging.example/api/v1";

/** A client of an address behind which an emulator answers, whatever the token is; `urls` are those that it was asked for. */
function clientAt(
  baseUrl: string | URL,
  token = "pat_a_b",
): { readonly client: Client; readonly urls: readonly string[] } {
  const emulator = createEmulator({ projects: [{ name: "web" }], rateLimit: false });
  const urls: string[] = [];
  const client = new Client({
    baseUrl,
    token,
    fetch: async (url, init) => {
      urls.push(url);
      const headers = { ...init.headers, authorization: `Bearer ${emulator.token}` };
      const response = await emulator.fetch(url.replace(/^.*\/api\/v1/, emulator.baseUrl), { ...init, headers });
      return new Response(response.body, response); // without the URL, since it is another
    },
  });
  return { client, urls };
}

describe("each record of a run", () => {
  test("has the service of its write, and no token", async () => {
    const { emulator, client } = service();
    const journal = new WatchedJournal();
    await bulkWrite({ client, items: rowsOf(2), key, send, journal, concurrency: 1 });
    expect(journal.records).toHaveLength(4);
    for (const record of journal.records) {
      expect(record.service?.startsWith(`${emulator.baseUrl}#`)).toBe(true);
      expect(Object.keys(record)).toEqual(expect.arrayContaining(["key", "state", "at", "service", "revision"]));
      expect(Object.keys(record)).not.toContain("token");
    }
  });
});

describe("a journal of another service", () => {
  test.each([
    ["another host", "https://other.example/api/v1"],
    ["another base path of one host", "https://staging.example/tenant-b/api/v1"],
    ["another port", "https://staging.example:8443/api/v1"],
  ])("is refused before anything is sent: %s", async (_, baseUrl) => {
    const journal = memoryJournal();
    await bulkWrite({ client: clientAt(elsewhere).client, items: rowsOf(2), key, send, journal });
    const second = clientAt(baseUrl);
    const { error } = await runToEnd(bulkWrite({ client: second.client, items: rowsOf(2), key, send, journal }));
    expect(error).toMatchObject({ kind: "journal", reason: "misused" });
    expect(String(error)).toContain(elsewhere);
    expect(String(error)).toContain(baseUrl);
    expect(second.urls).toEqual([]);
  });

  test.each(["https://staging.example/api/v1/", "HTTPS://Staging.Example:443/api/v1", new URL(`${elsewhere}//`)])(
    "is that of the same service in another spelling: %s",
    async (baseUrl) => {
      const journal = memoryJournal();
      await bulkWrite({ client: clientAt(elsewhere).client, items: rowsOf(2), key, send, journal });
      const again = bulkWrite({ client: clientAt(baseUrl).client, items: rowsOf(3), key, send, journal });
      expect(await again).toMatchObject({ done: 3, skipped: 2 });
    },
  );
});

describe("an emulator", () => {
  test("is no service at the same address: a rehearsal is not taken for the import", async () => {
    const { client } = service();
    const journal = memoryJournal();
    await bulkWrite({ client, items: rowsOf(2), key, send, journal });
    for (const token of ["pat_real_1", () => "pat_real_1"]) {
      const { error } = await runToEnd(
        bulkWrite({ client: client.withOptions({ token }), items: rowsOf(2), key, send, journal }),
      );
      expect(error).toMatchObject({ kind: "journal", reason: "misused" });
    }
  });

  test("that is another one begins a journal anew, and says so in a line", async () => {
    const { emulator, client } = service();
    const journal = new WatchedJournal();
    const at1 = { at, service: `${emulator.baseUrl}#another1`, revision: 7 };
    await journal.append([
      { key: "row-1", state: "sending", ...at1 },
      { key: "row-2", state: "unknown", ...at1 },
    ]);
    const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    const options = { items: rowsOf(3), key, send, journal };
    expect(await bulkWrite({ ...options, client })).toMatchObject({ done: 3, skipped: 0 });
    expect(journal.records.find(({ key: of, revision }) => of === "row-1" && revision === 8)?.state).toBe("sending");
    const { emulator: later } = service();
    const again = clientOf(later, { token: () => later.token, logger, logLevel: "info" });
    expect(await bulkWrite({ ...options, client: again })).toMatchObject({ done: 3, skipped: 0 });
    expect(issueCounts(later)).toEqual({ "Issue 1": 1, "Issue 2": 1, "Issue 3": 1 });
    const locked = again.withOptions({ token: () => Promise.reject(new Error("locked")) });
    for (const same of [again, locked]) {
      expect(await bulkWrite({ ...options, client: same })).toMatchObject({ done: 3, skipped: 3 });
    }
    const lines = logger.info.mock.calls.filter(([line]) =>
      /^bulkWrite: .* of another emulator, .* anew$/.test(String(line)),
    );
    expect(lines).toHaveLength(1);
    expect(logger.warn).not.toHaveBeenCalled();
  });
});

test("a journal of the same service goes on after a rotation, without a warning or a call of the provider", async () => {
  const journal = memoryJournal();
  await bulkWrite({ client: clientAt(elsewhere, "pat_one_1").client, items: rowsOf(2), key, send, journal });
  const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const client = clientAt(elsewhere, "pat_two_2").client.withOptions({ logger });
  const options = { items: rowsOf(3), key, send, journal };
  expect(await bulkWrite({ ...options, client })).toMatchObject({ done: 3, skipped: 2 });
  const token = vi.fn(() => "pat_three_3");
  expect(await bulkWrite({ ...options, client: client.withOptions({ token }) })).toMatchObject({ done: 3, skipped: 3 });
  expect([logger.warn.mock.calls, token.mock.calls]).toEqual([[], []]);
});

test("a write to another service than the run's is not sent, and ends the run", async () => {
  const { emulator, client } = service();
  const fetch = async (): Promise<Response> => expect.fail("sent");
  const run = bulkWrite({
    client,
    items: rowsOf(3),
    key,
    journal: memoryJournal(),
    concurrency: 1,
    send: async (bound, row) => {
      const away = bound.withOptions({ baseUrl: elsewhere, token: "pat_a_b", fetch });
      return await send(row.id === "row-2" ? away : bound, row).catch((error: unknown) => error);
    },
  });
  const { states, error } = await runToEnd(run);
  expect(error).toMatchObject({ kind: "argument", outcome: "not_sent", message: expect.stringContaining(elsewhere) });
  expect(states).toEqual({ "row-1": "done", "row-2": "unknown" });
  expect(issueCounts(emulator)).toEqual({ "Issue 1": 1 });
});
