/** A journal in a file: kept from other runs, durable, and careful with what it finds. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { bulkWrite, JournalError, type JournalRecord } from "../../src/bulk/index.ts";
import { type FileJournal, fileJournal } from "../../src/bulk/node.ts";
import { clientOf, createIssue, issueCounts, key, rowsOf, runToEnd, service } from "./rows.ts";

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
  const journal = await fileJournal(path);
  try {
    return await loaded(journal);
  } finally {
    await journal.close();
  }
}

async function fill(...all: readonly (readonly JournalRecord[])[]): Promise<void> {
  const journal = await fileJournal(path);
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
    await runToEnd(
      bulkWrite({ items, key, send: createIssue(client), journal: await fileJournal(path), concurrency: 3 }),
    );
    appendFileSync(path, '1234abcd [{"key":"row-3');
    stop.remove();
    const run = bulkWrite({ items, key, send: createIssue(clientOf(emulator)), journal: await fileJournal(path) });
    await run.finish();
    expect(run.summary).toMatchObject({ done: 18, skipped: 12 });
    expect(Object.values(issueCounts(emulator))).toEqual(Array(30).fill(1));
    expect((await contents()).filter(({ state }) => state === "done")).toHaveLength(30);
    expect(locks()).toEqual([]);
  });

  test("sends nothing with a damaged journal, and names the line", async () => {
    const { emulator, client } = service();
    await fill([record("row-1", "done")], [record("row-2", "done")]);
    writeFileSync(path, readFileSync(path, "utf8").replace("row-1", "row-7"));
    const run = bulkWrite({ items: rowsOf(3), key, send: createIssue(client), journal: await fileJournal(path) });
    const { error } = await runToEnd(run);
    expect(error).toMatchObject({ reason: "damaged", line: 2, message: expect.stringContaining("line 2") });
    expect([emulator.requests.length, locks().length]).toEqual([0, 0]);
  });

  test("leaves a file alone that is no journal", async () => {
    const { client } = service();
    writeFileSync(path, '[{"id":"row-1"}]\n');
    const run = bulkWrite({ items: rowsOf(3), key, send: createIssue(client), journal: await fileJournal(path) });
    expect((await runToEnd(run)).error).toMatchObject({ reason: "not_a_journal" });
    expect(readFileSync(path, "utf8")).toBe('[{"id":"row-1"}]\n');
  });

  test("can use one journal after another run has", async () => {
    const { client } = service();
    const options = { items: rowsOf(3), key, send: createIssue(client), journal: await fileJournal(path) };
    expect(await bulkWrite(options).finish()).toMatchObject({ done: 3 });
    expect(await bulkWrite(options).finish()).toMatchObject({ skipped: 3 });
  });
});

describe("a full disk", () => {
  test.each([
    ["at once", 0],
    ["in the middle of a line", 20],
  ])("ends the run before the next request: %s", async (_, fits) => {
    const { emulator, client } = service();
    const journal = await fileJournal(path);
    const handle = await open(path);
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    const write = Reflect.get(prototype, "write") as () => unknown; // as it was
    let writes = 0;
    vi.spyOn(prototype, "write").mockImplementation(async function (this: FileHandle, ...args: unknown[]) {
      const [bytes, offset, length, position] = args as [Uint8Array, number, number, number];
      writes += 1;
      if (writes < 6) return Reflect.apply(write, this, args) as never;
      if (fits > 0 && writes === 6)
        return Reflect.apply(write, this, [bytes, offset, Math.min(fits, length), position]) as never;
      throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    });
    const options = { items: rowsOf(20), key, send: createIssue(client), concurrency: 1 };
    const { error } = await runToEnd(bulkWrite({ ...options, journal }));
    expect(error).toBeInstanceOf(JournalError);
    expect(error).toMatchObject({ reason: "failed", cause: { code: "ENOSPC" } });
    vi.restoreAllMocks();

    // The header, and then two records of each of two items; the third never left.
    expect(emulator.requests).toHaveLength(2);
    const run = bulkWrite({ ...options, journal: await fileJournal(path) });
    expect(await run.finish()).toEqual({ done: 18, refused: 0, not_sent: 0, unknown: 0, skipped: 2 });
    expect(Object.values(issueCounts(emulator))).toEqual(Array(20).fill(1));
  });

  test("is an error that says so, where the folder is missing too", async () => {
    await expect(fileJournal(join(folder, "missing", "a.journal"))).rejects.toMatchObject({
      kind: "journal",
      reason: "failed",
      message: expect.stringContaining("ENOENT"),
    });
    await expect(fileJournal("")).rejects.toMatchObject({ kind: "argument" });
    await expect(fileJournal(7 as never)).rejects.toMatchObject({ kind: "argument" });
  });
});

describe("a second run on a file", () => {
  const inUse = { kind: "journal", reason: "in_use", message: expect.stringContaining(`process ${process.pid}`) };

  test("fails at once, by whatever path it comes, until the first has ended", async () => {
    const journal = await fileJournal(path);
    symlinkSync(path, join(folder, "link"));
    for (const same of [path, join(folder, "link"), relative(".", path), join(folder, ".", "import.journal")]) {
      await expect(fileJournal(same)).rejects.toMatchObject(inUse);
    }
    await journal.close();
    await (await fileJournal(path)).close();
    expect(locks()).toEqual([]);
  });

  test("of many that begin at the same moment: one gets it", { timeout: 120_000 }, async () => {
    for (let round = 0; round < 10; round += 1) {
      const all = await Promise.allSettled(Array.from({ length: 12 }, () => fileJournal(path)));
      const got = all.filter((one) => one.status === "fulfilled");
      expect(got).toHaveLength(1);
      for (const one of all) if (one.status === "rejected") expect(one.reason).toMatchObject({ reason: "in_use" });
      await got[0]?.value.close();
    }
    expect(locks()).toEqual([]);
  });

  test("of another process fails at once, and gets it after a kill -9", async () => {
    const holder = await hold();
    await expect(fileJournal(path)).rejects.toMatchObject({
      reason: "in_use",
      message: expect.stringContaining(`process ${holder.pid}`),
    });
    holder.kill("SIGKILL");
    await once(holder, "exit");
    expect(locks()).toHaveLength(1);
    await (await fileJournal(path)).close();
    expect(locks()).toEqual([]);
  });

  test("is not kept out by the lock of a process whose id is used again", async () => {
    const journal = await fileJournal(path);
    const [lock = ""] = locks();
    await journal.close();
    // As if this process had got the id of one that held the lock.
    const of = (startedAt: string): string =>
      join(folder, lock.replace(/-(\d+)-([0-9a-f]{8})\.lock$/, `-${startedAt}-00000000.lock`));
    writeFileSync(of("1"), "is held");
    await (await fileJournal(path)).close();
    expect(locks()).toEqual([]);
  });

  test.each([
    ["is kept out while the lock is fresh", 1, true],
    ["is not kept out once the lock has not been refreshed for long", 60, false],
  ])("of another machine %s", async (_, ageSeconds, isKeptOut) => {
    const lock = `${path}.0123456789ab-1-1-00000000.lock`;
    writeFileSync(lock, "is held");
    const then = Date.now() / 1_000 - ageSeconds;
    utimesSync(lock, then, then);
    const opened = fileJournal(path);
    if (isKeptOut)
      await expect(opened).rejects.toMatchObject({ reason: "in_use", message: expect.stringContaining(lock) });
    else await (await opened).close();
  });

  test("ends a run that has lost its lock, before its next request", async () => {
    const { emulator, client } = service();
    const run = bulkWrite({
      items: rowsOf(20),
      key,
      send: createIssue(client),
      journal: await fileJournal(path),
      concurrency: 1,
    });
    const iterator = run[Symbol.asyncIterator]();
    await iterator.next();
    for (const lock of locks()) rmSync(join(folder, lock));
    const drain = async (): Promise<void> => {
      while (!(await iterator.next()).done);
    };
    await expect(drain()).rejects.toMatchObject({ reason: "in_use", message: expect.stringContaining("is gone") });
    expect(emulator.requests.length).toBeLessThan(5);
  });

  async function hold(): Promise<ChildProcess> {
    const module = resolve(import.meta.dirname, "../../src/bulk/node.ts");
    const program = `
      import { fileJournal } from ${JSON.stringify(module)};
      await fileJournal(${JSON.stringify(path)});
      process.stdout.write("held");
      setInterval(() => {}, 1_000);
    `;
    const child = spawn(process.execPath, ["--no-warnings", "--input-type=module", "--eval", program]);
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = once(child, "exit").then(() => Promise.reject(new Error("the holder ended by itself")));
    ended.catch(() => {}); // it is killed later
    await Promise.race([once(child.stdout, "data"), ended]);
    return child;
  }
});

test("a journal that is closed, or not loaded yet, cannot be written to", async () => {
  const journal = await fileJournal(path);
  await expect(journal.append([record("a", "done")])).rejects.toMatchObject({ reason: "misused" });
  await journal.close();
  await expect(journal.append([record("a", "done")])).rejects.toMatchObject({ reason: "misused" });
  await journal.close();
});
