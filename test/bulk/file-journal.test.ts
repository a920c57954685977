/** A journal in a file: durable, and careful with what it finds. */
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { bulkWrite, JournalError, type JournalRecord } from "../../src/bulk/index.ts";
import { type FileJournal, fileJournal } from "../../src/bulk/node.ts";
import { clientOf, issueCounts, key, rowsOf, runToEnd, send, service } from "./rows.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bulk-"));
  path = join(folder, "import.journal");
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const record = (name: string, state: JournalRecord["state"]): JournalRecord => ({
  key: name,
  state,
  at: "2026-01-01T00:00:00.000Z",
});

async function loaded(journal: FileJournal): Promise<JournalRecord[]> {
  const records: JournalRecord[] = [];
  for await (const one of await journal.load()) records.push(one);
  return records;
}

/** What a run would find. */
async function contents(): Promise<JournalRecord[]> {
  const journal = fileJournal(path);
  try {
    return await loaded(journal);
  } finally {
    await journal.close();
  }
}

async function fill(...all: readonly (readonly JournalRecord[])[]): Promise<void> {
  const journal = fileJournal(path);
  await loaded(journal);
  for (const records of all) await journal.append(records);
  await journal.close();
}

const locks = (): string[] => readdirSync(folder).filter((name) => name.endsWith(".lock"));

describe("a run", () => {
  test("is gone on with by another process, after its last line was torn", async () => {
    const { emulator, client } = service();
    const stop = emulator.fault({ skip: 12, times: Number.POSITIVE_INFINITY, status: 401 });
    const items = rowsOf(30);
    await runToEnd(bulkWrite({ items, key, client, send, journal: fileJournal(path), concurrency: 3 }));
    appendFileSync(path, '1234abcd [{"key":"row-3');
    stop.remove();
    const run = bulkWrite({ items, key, client: clientOf(emulator), send, journal: fileJournal(path) });
    await run;
    expect(run.summary).toMatchObject({ done: 30, skipped: 12 });
    expect(Object.values(issueCounts(emulator))).toEqual(Array(30).fill(1));
    expect((await contents()).filter(({ state }) => state === "done")).toHaveLength(30);
    expect(locks()).toEqual([]);
  });

  test("sends nothing with a damaged journal, and names the line", async () => {
    const { emulator, client } = service();
    await fill([record("row-1", "done")], [record("row-2", "done")]);
    writeFileSync(path, readFileSync(path, "utf8").replace("row-1", "row-7"));
    const run = bulkWrite({ items: rowsOf(3), key, client, send, journal: fileJournal(path) });
    const { error } = await runToEnd(run);
    expect(error).toMatchObject({ reason: "damaged", line: 2, message: expect.stringContaining("line 2") });
    expect([emulator.requests.length, locks().length]).toEqual([0, 0]);
  });

  test("can use one journal after another run has", async () => {
    const { client } = service();
    const options = { items: rowsOf(3), key, client, send, journal: fileJournal(path) };
    expect(await bulkWrite(options)).toMatchObject({ done: 3 });
    expect(await bulkWrite(options)).toMatchObject({ skipped: 3 });
  });
});

describe("a journal that no run was given", () => {
  test("holds nothing: there is no file and no lock, and any number of them keep no run out", async () => {
    const { client } = service();
    const journals = Array.from({ length: 5 }, () => fileJournal(path));
    expect(readdirSync(folder)).toEqual([]);
    const options = { items: rowsOf(3), key, client, send };
    // As of a program that fails between the two, or that calls `bulkWrite` and awaits it never.
    void bulkWrite({ ...options, journal: fileJournal(path) });
    const wrong = { ...options, journal: fileJournal(path), concurency: 3 };
    expect(() => bulkWrite(wrong)).toThrow("concurency");
    expect(readdirSync(folder)).toEqual([]);
    for (const journal of journals) expect((await runToEnd(bulkWrite({ ...options, journal }))).error).toBeUndefined();
    expect(readdirSync(folder)).toEqual(["import.journal"]);
  });
});

describe("a full disk", () => {
  test.each([
    ["at once", 0],
    ["in the middle of a line", 20],
  ])("ends the run before the next request: %s", async (_, fits) => {
    const { emulator, client } = service();
    const journal = fileJournal(path);
    const handle = await open(folder);
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    const write = Reflect.get(prototype, "write") as () => unknown; // as it was
    let writes = 0;
    vi.spyOn(prototype, "write").mockImplementation(async function (this: FileHandle, ...args: unknown[]) {
      const [bytes, offset, length, position] = args as [Uint8Array, number, number, number];
      if (typeof bytes === "string") return Reflect.apply(write, this, args) as never; // a lock file
      writes += 1;
      if (writes < 6) return Reflect.apply(write, this, args) as never;
      if (fits > 0 && writes === 6)
        return Reflect.apply(write, this, [bytes, offset, Math.min(fits, length), position]) as never;
      throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    });
    const options = { items: rowsOf(20), key, client, send, concurrency: 1 };
    const { error } = await runToEnd(bulkWrite({ ...options, journal }));
    expect(error).toBeInstanceOf(JournalError);
    expect(error).toMatchObject({ reason: "failed", cause: { code: "ENOSPC" } });
    vi.restoreAllMocks();

    // The header, and then two records of each of two items; the third never left.
    expect(emulator.requests).toHaveLength(2);
    const run = bulkWrite({ ...options, journal: fileJournal(path) });
    expect(await run).toEqual({ done: 20, skipped: 2 });
    expect(Object.values(issueCounts(emulator))).toEqual(Array(20).fill(1));
  });

  test("when the journal is opened leaves no lock that would keep it closed to the process", async () => {
    const handle = await open(folder);
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    vi.spyOn(prototype, "write").mockRejectedValue(Object.assign(new Error("ENOSPC"), { code: "ENOSPC" }));
    await expect(contents()).rejects.toMatchObject({ reason: "failed", cause: { code: "ENOSPC" } });
    vi.restoreAllMocks();
    await contents();
    expect(readdirSync(folder)).toEqual(["import.journal"]);
  });
});

test("a reason is kept in the file", async () => {
  const { emulator, client } = service();
  emulator.fault({ status: 500, body: { error: "internal", message: "the disk is full" } });
  const run = () => runToEnd(bulkWrite({ items: rowsOf(1), key, client, send, journal: fileJournal(path) }));
  const [first] = (await run()).entries;
  const [second] = (await run()).entries;
  expect(first?.reason).toMatchObject({ kind: "server", message: "the disk is full" });
  expect(second).toMatchObject({ state: "unknown", error: undefined, reason: first?.reason });
});

test("a journal that is closed, or not loaded yet, cannot be written to", async () => {
  const journal = fileJournal(path);
  await expect(journal.append([record("a", "done")])).rejects.toMatchObject({ reason: "misused" });
  await journal.close();
  await expect(journal.append([record("a", "done")])).rejects.toMatchObject({ reason: "misused" });
  await journal.close();
});

describe("an id", () => {
  test("is written into a new journal, and asked for from then on", async () => {
    const { client } = service();
    const run = async (id?: string) => {
      const journal = fileJournal(path, { id });
      return runToEnd(bulkWrite({ items: rowsOf(2), key, client, send, journal }));
    };
    expect((await run("issues 2026")).states).toEqual({ "row-1": "done", "row-2": "done" });
    expect(readFileSync(path, "utf8")).toMatch(
      /^\{"format":"project-automation bulk journal","version":1,"id":"issues 2026"\}\n/,
    );
    expect((await run("issues 2026")).error).toBeUndefined();
    const before = readFileSync(path);
    expect((await run("issues 2027")).error).toMatchObject({
      reason: "misused",
      message: 'the journal is that of the import "issues 2026", and not of the import "issues 2027"',
    });
    expect((await run()).error).toMatchObject({
      message: expect.stringContaining("and not of an import without an id"),
    });
    expect([readFileSync(path), locks()]).toEqual([before, []]);
  });

  test.each<[unknown, RegExp]>([
    [{ id: "" }, /options.id must be a string of 1 to 200 characters/],
    [{ id: 7 }, /options.id must be a string/],
    [{ Id: "a" }, /unknown key/],
    ["issues 2026", /options must be an object such as { id }, not a string/],
  ])("that is none is refused: %j", async (options, message) => {
    expect(() => fileJournal(path, options as never)).toThrow(
      expect.objectContaining({ kind: "argument", message: expect.stringMatching(message) }),
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});
