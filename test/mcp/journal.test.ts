/** The memory of created issues in a journal, and a journal that cannot be used. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "project-automation";
import { type Journal, JournalError, type JournalRecord, memoryJournal } from "project-automation/bulk";
import { fileJournal } from "project-automation/bulk/node";
import { createEmulator, type Emulator } from "project-automation/testing";
import { afterAll, afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { connect, type Host } from "./hosts.ts";

const ISSUE = { project: "web", title: "It broke", type: "bug" };

const folder = mkdtempSync(join(tmpdir(), "mcp-"));
afterAll(() => rmSync(folder, { recursive: true }));

let complaints: MockInstance<typeof console.error>;
beforeEach(() => {
  complaints = vi.spyOn(console, "error").mockReturnValue();
});

const hosts: Host[] = [];
afterEach(async () => {
  complaints.mockRestore();
  for (const host of hosts.splice(0)) await host.close();
});

async function hostOf(emulator: Emulator, journal: Journal, baseUrl = emulator.baseUrl): Promise<Host> {
  const client = new Client({ ...emulator.clientOptions, baseUrl, retry: { minDelayMs: 1 } });
  const host = await connect(client, { journal });
  hosts.push(host);
  return host;
}

/** The lines on standard error. */
const reasons = (): string => complaints.mock.calls.flat().join("\n");

const created = (emulator: Emulator): number => emulator.requests.filter(({ status }) => status === 201).length;

/** The records that a journal has now. */
async function recordsOf(journal: Journal): Promise<JournalRecord[]> {
  const records: JournalRecord[] = [];
  for await (const record of await journal.load()) records.push(record);
  return records;
}

describe("the memory outlives the process", () => {
  test("an issue is returned without what may have changed, and since when", async () => {
    const emulator = createEmulator();
    const path = join(folder, "issues.journal");
    const journal = fileJournal(path);
    await (await hostOf(emulator, journal)).call("create_issue", ISSUE);
    await journal.close();
    const records = readFileSync(path, "utf8");
    expect(records).not.toContain("open"); // its status
    const next = fileJournal(path);
    const second = await (await hostOf(emulator, next)).call("create_issue", ISSUE);
    await next.close();
    const since = String(second.structured?.["created_at"]);
    expect(second.structured).toEqual({ number: 1, title: "It broke", type: "bug", repeated: true, created_at: since });
    expect(records).toContain(since);
    expect(created(emulator)).toBe(1);
  });

  test("an issue whose process died before the response may exist since then", async () => {
    const emulator = createEmulator();
    const journal = memoryJournal();
    // What the process leaves: the record before the request, and none after it.
    const dying: Journal = {
      load: () => journal.load(),
      append: (records) => journal.append(records.filter(({ state }) => state === "sending")),
    };
    await (await hostOf(emulator, dying)).call("create_issue", ISSUE);
    const [record] = await recordsOf(journal);
    const host = await hostOf(emulator, memoryOf(journal));
    const { text } = await host.call("create_issue", ISSUE);
    expect(text).toContain(`at ${record?.at}, may have created this issue`);
    expect(emulator.requests).toHaveLength(1);
  });

  test.each([
    ["of another origin", (baseUrl: string) => baseUrl.replace("//", "//other.")],
    ["under another path", (baseUrl: string) => baseUrl.replace("v1", "v2")],
  ])("it is not that of a service %s", async (_, other) => {
    const [first, second] = [createEmulator(), createEmulator({ baseUrl: other(createEmulator().baseUrl) })];
    const journal = memoryJournal();
    await (await hostOf(first, journal)).call("create_issue", ISSUE);
    const host = await hostOf(second, memoryOf(journal));
    expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ repeated: false });
    expect([created(first), created(second)]).toEqual([1, 1]);
  });

  test("it is that of the same service, however its address is written", async () => {
    const emulator = createEmulator();
    const journal = memoryJournal();
    await (await hostOf(emulator, journal)).call("create_issue", ISSUE);
    const host = await hostOf(emulator, memoryOf(journal), `${emulator.baseUrl}//`);
    expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ repeated: true });
  });
});

/** The same journal for the next process. */
function memoryOf(journal: Journal): Journal {
  return { load: () => journal.load(), append: (records) => journal.append(records) };
}

describe("a journal that cannot be used", () => {
  test("leaves the other tools, sends nothing, and is tried again at each call", async () => {
    const emulator = createEmulator();
    const stored: JournalRecord[] = [];
    let isFull = true;
    const host = await hostOf(emulator, {
      load: () => stored,
      append(records) {
        if (isFull) throw new Error("no space left on /home/me/disk");
        stored.push(...records);
      },
    });
    for (let call = 1; call <= 2; call += 1) {
      const { isError, text } = await host.call("create_issue", ISSUE);
      expect(isError).toBe(true);
      expect(text).toMatch(/cannot be used: it could not be read or written \(kind: journal\)\. Nothing is created/);
      expect(text).not.toContain("/home/me");
      expect(complaints).toHaveBeenCalledTimes(call);
    }
    expect(reasons()).toContain("no space left on /home/me/disk");
    expect(emulator.requests).toEqual([]);
    expect((await host.call("get_session", { id: "ses_1" })).isError).toBe(false);
    isFull = false;
    expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ number: 1, repeated: false });
    expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ number: 1, repeated: true });
    expect(created(emulator)).toBe(1);
  });

  test("while a record of an end is written loses nothing in this process", async () => {
    const emulator = createEmulator();
    const stored: JournalRecord[] = [];
    const host = await hostOf(emulator, {
      load: () => stored,
      append(records) {
        if (records.some(({ state }) => state === "done")) throw new Error("no space left");
        stored.push(...records);
      },
    });
    expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ number: 1, repeated: false });
    // It is loaded again, and knows less than the process.
    expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ number: 1, repeated: true });
    expect(stored.map(({ state }) => state)).toEqual(["sending"]);
    expect(reasons()).toContain("no space left");
  });

  test.each([
    { reason: "damaged", told: "it is damaged" },
    { reason: "not_a_journal", told: "the file is no journal" },
    { reason: "in_use", told: "another process uses it" },
  ] as const)("as it is $reason says so, and its own words stand on standard error", async ({ reason, told }) => {
    const emulator = createEmulator();
    const host = await hostOf(emulator, {
      load: () => Promise.reject(new JournalError("line 1 of /home/me/journal", { reason })),
      append: () => {},
    });
    const { isError, text } = await host.call("create_issue", ISSUE);
    expect(isError).toBe(true);
    expect(text).toContain(`The record of created issues cannot be used: ${told} (kind: journal)`);
    expect(text).not.toContain("/home/me");
    expect(reasons()).toContain("line 1 of /home/me/journal");
    expect(emulator.requests).toEqual([]);
  });
});
