/** A journal in a file is used by one run at a time. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { bulkWrite } from "../../src/bulk/index.ts";
import { type FileJournal, fileJournal } from "../../src/bulk/node.ts";
import { issueCounts, key, type Row, rowsOf, runToEnd, send, service } from "./rows.ts";

const MODULE = resolve(import.meta.dirname, "../../src/bulk/node.ts");

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

/** A journal that is used, as by a run that has begun. */
async function opened(file: string): Promise<FileJournal> {
  const journal = fileJournal(file);
  for await (const _ of await journal.load());
  return journal;
}

const locks = (): string[] => readdirSync(folder).filter((name) => name.endsWith(".lock"));

/** As another run would that takes this one for dead. */
function removeLocks(): void {
  for (const lock of locks()) rmSync(join(folder, lock));
}

describe("a second run on a file", () => {
  const inUse = { kind: "journal", reason: "in_use", message: expect.stringContaining(`process ${process.pid}`) };

  test("fails at once, by whatever path it comes, until the first has ended", async () => {
    const journal = await opened(path);
    symlinkSync(path, join(folder, "link"));
    for (const same of [path, join(folder, "link"), relative(".", path), join(folder, ".", "import.journal")]) {
      await expect(opened(same)).rejects.toMatchObject(inUse);
    }
    await journal.close();
    await (await opened(path)).close();
    expect(locks()).toEqual([]);
  });

  test("of many that begin at the same moment: one gets it", async () => {
    for (let round = 0; round < 10; round += 1) {
      const all = await Promise.allSettled(Array.from({ length: 12 }, () => opened(path)));
      const got = all.filter((one) => one.status === "fulfilled");
      expect(got).toHaveLength(1);
      for (const one of all) if (one.status === "rejected") expect(one.reason).toMatchObject({ reason: "in_use" });
      await got[0]?.value.close();
    }
    expect(locks()).toEqual([]);
  });

  test("of another process fails at once, and gets it after a kill -9", async () => {
    const holder = await hold();
    await expect(opened(path)).rejects.toMatchObject({
      reason: "in_use",
      message: expect.stringContaining(`process ${holder.pid}`),
    });
    holder.kill("SIGKILL");
    await once(holder, "exit");
    expect(locks()).toHaveLength(1);
    await (await opened(path)).close();
    expect(locks()).toEqual([]);
  });

  test.runIf(process.platform === "linux")("gets it after a kill -9 though nobody waits for the process", async () => {
    await hold("sh", "-c", '"$0" "$@" & exec sleep 600'); // the shell turns into `sleep`, which waits for no child
    const [lock = ""] = locks();
    const pid = Number(/-(\d+)-\d+-[0-9a-f]+\.lock$/.exec(lock)?.[1]);
    process.kill(pid, "SIGKILL");
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "utf8")).toContain(") Z ");
    await (await opened(path)).close();
    expect(locks()).toEqual([]);
  });

  test("is not kept out by the lock of a process whose id is used again", async () => {
    const journal = await opened(path);
    const [lock = ""] = locks();
    await journal.close();
    // As if this process had got the id of one that held the lock.
    const of = (startedAt: string): string =>
      join(folder, lock.replace(/-(\d+)-([0-9a-f]{8})\.lock$/, `-${startedAt}-00000000.lock`));
    writeFileSync(of("1"), "is held");
    await (await opened(path)).close();
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
    const used = opened(path);
    if (isKeptOut)
      await expect(used).rejects.toMatchObject({ reason: "in_use", message: expect.stringContaining(lock) });
    else await (await used).close();
  });

  test("ends a run that has lost its lock, before its next request", async () => {
    const { emulator, client } = service();
    const run = bulkWrite({
      items: rowsOf(20),
      key,
      client,
      send,
      journal: fileJournal(path),
      concurrency: 1,
    });
    const iterator = run[Symbol.asyncIterator]();
    await iterator.next();
    removeLocks();
    const drain = async (): Promise<void> => {
      while (!(await iterator.next()).done);
    };
    await expect(drain()).rejects.toMatchObject({ reason: "in_use", message: expect.stringContaining("is gone") });
    expect(emulator.requests.length).toBeLessThan(5);
  });

  /** A process that holds the lock; with a command, started by it. */
  async function hold(...command: readonly string[]): Promise<ChildProcess> {
    const program = `
      import { fileJournal } from ${JSON.stringify(MODULE)};
      for await (const _ of fileJournal(${JSON.stringify(path)}).load());
      process.stdout.write("held");
      setInterval(() => {}, 1_000);
    `;
    const node = [process.execPath, "--no-warnings", "--input-type=module", "--eval", program];
    const [file = "", ...args] = [...command, ...node];
    const child = spawn(file, args);
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = once(child, "exit").then(() => Promise.reject(new Error("the holder ended by itself")));
    ended.catch(() => {}); // it is killed later
    await Promise.race([once(child.stdout, "data"), ended]);
    return child;
  }
});

test("a journal with two names sends nothing twice: a run sees the lines of the other one", async () => {
  const { emulator, client } = service();
  const other = join(folder, "other.journal");
  const options = { key, client, send, concurrency: 1 };
  const rows = rowsOf(6);
  const items = (async function* () {
    yield* rows.slice(0, 1);
    linkSync(path, other); // the first item is recorded: the run takes one at a time
    await bulkWrite({ ...options, items: rows, journal: fileJournal(other) });
    yield* rows.slice(1);
  })();
  const run = bulkWrite({ ...options, items, journal: fileJournal(path) });
  await expect(run).rejects.toMatchObject({ reason: "in_use" });
  for (const count of Object.values(issueCounts(emulator))) expect(count).toBe(1);
});

describe("a link to a journal that is not there yet", () => {
  test("is the journal that it leads to, for two runs too", async () => {
    mkdirSync(join(folder, "volume"));
    const target = join(folder, "volume", "real.journal");
    symlinkSync(target, path);
    const journal = await opened(path);
    expect(journal.path).toBe(path);
    for (const same of [path, target]) await expect(opened(same)).rejects.toMatchObject({ reason: "in_use" });
    await journal.close();
    expect(readdirSync(join(folder, "volume"))).toEqual(["real.journal"]);
  });

  test("may lead through several links", async () => {
    const [first, second] = [join(folder, "first"), join(folder, "second")];
    symlinkSync("second", first);
    symlinkSync("import.journal", second);
    const journal = await opened(first);
    await expect(opened(second)).rejects.toMatchObject({ reason: "in_use" });
    await journal.close();
  });
});

test("a worker thread that is terminated does not keep its journal", async () => {
  const program = `
    import(${JSON.stringify(MODULE)})
      .then(({ fileJournal }) => fileJournal(${JSON.stringify(path)}).load().next())
      .then(() => require("node:worker_threads").parentPort.postMessage("held"));
    setInterval(() => {}, 1_000);
  `;
  const worker = new Worker(program, { eval: true });
  await once(worker, "message");
  await expect(opened(path)).rejects.toMatchObject({ reason: "in_use" });
  await worker.terminate();
  expect(locks()).toHaveLength(1);
  await (await opened(path)).close();
  expect(locks()).toEqual([]);
});

describe("a run that was taken for dead", () => {
  const rows = rowsOf(6);

  /** Runs, and calls `meddle` at the so-manyth flush. */
  async function runAndMeddle(when: { readonly flush: number }, meddle: () => void) {
    const { emulator, client } = service();
    const journal = fileJournal(path);
    const handle = await open(folder);
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    const datasync = Reflect.get(prototype, "datasync") as () => unknown; // as it was
    let flushes = 0;
    vi.spyOn(prototype, "datasync").mockImplementation(async function (this: FileHandle) {
      await Reflect.apply(datasync, this, []);
      flushes += 1;
      if (flushes === when.flush) meddle();
    });
    const run = bulkWrite({ items: rows, key, client, send, journal, concurrency: 1 });
    return { emulator, ...(await runToEnd(run)) };
  }

  test("sends nothing on the strength of a record that was flushed too late", async () => {
    const { emulator, states, error } = await runAndMeddle({ flush: 4 }, removeLocks);
    expect(error).toMatchObject({ reason: "in_use", message: expect.stringContaining("is gone") });
    // The fourth flush is that of the second item: those of the header and of the first item come before it.
    expect(emulator.requests).toHaveLength(1);
    expect(states["row-2"]).toBe("not_sent");
  });

  test("writes nothing into a journal that another run has written to", async () => {
    let after: Buffer | undefined;
    const { emulator, error } = await runAndMeddle({ flush: 3 }, () => {
      appendFileSync(path, "a line of another run\n");
      after = readFileSync(path);
    });
    expect(error).toMatchObject({
      reason: "in_use",
      message: expect.stringMatching(/has \d+ bytes, and had \d+ when/),
    });
    expect(readFileSync(path)).toEqual(after);
    expect(emulator.requests.length).toBeLessThanOrEqual(2);
  });

  test("writes nothing into a journal that has been deleted", async () => {
    const { emulator, error } = await runAndMeddle({ flush: 3 }, () => rmSync(path));
    expect(error).toMatchObject({ reason: "in_use", message: expect.stringContaining("has been deleted") });
    expect(emulator.requests.length).toBeLessThanOrEqual(2);
  });

  test("cuts nothing off", async () => {
    const { client } = service();
    const journal = fileJournal(path);
    await bulkWrite({ items: rows, key, client, send, journal });
    appendFileSync(path, "a torn end, or what another run is writing");
    const before = readFileSync(path);
    const late = fileJournal(path);
    const records = (await late.load()) as AsyncIterable<unknown>;
    const reading = records[Symbol.asyncIterator]();
    await reading.next();
    removeLocks();
    const rest = (async () => {
      while (!(await reading.next()).done);
    })();
    await expect(rest).rejects.toMatchObject({ reason: "in_use" });
    expect(readFileSync(path)).toEqual(before);
    // It holds the file no longer, and can begin again.
    const again = bulkWrite({ items: rows, key, client, send, journal: late });
    expect(await again).toMatchObject({ skipped: rows.length });
  });

  test.each(["first line", "next line"])(
    "touches nothing of the run that took over, however late the write of its %s comes",
    async (line) => {
      const { emulator, client } = service();
      const run = async () => runToEnd(bulkWrite({ items: rows, key, client, send, journal: fileJournal(path) }));
      const late = fileJournal(path);
      if (line === "next line") for await (const _ of await late.load());
      const handle = await open(folder);
      const prototype = Object.getPrototypeOf(handle) as FileHandle;
      await handle.close();
      const write = Reflect.get(prototype, "write") as () => unknown; // as it was
      let isFirst = true;
      let taken: Awaited<ReturnType<typeof run>> | undefined;
      vi.spyOn(prototype, "write").mockImplementation(async function (this: FileHandle, ...args: unknown[]) {
        const isOfLock = typeof args[0] === "string";
        if (isFirst && !isOfLock) {
          isFirst = false;
          takeForDead();
          taken = await run();
        }
        return Reflect.apply(write, this, args) as never;
      });
      const record = { key: "row-1", state: "sending", at: new Date(0).toISOString() } as const;
      const stopped = line === "next line" ? late.append([record]) : opened(path);
      await expect(stopped).rejects.toMatchObject({ reason: "in_use" });
      expect(taken?.states).toMatchObject({ "row-1": "done", "row-6": "done" });
      const { entries } = await run();
      expect(entries.filter(({ skipped }) => skipped)).toHaveLength(6);
      expect(Object.values(issueCounts(emulator))).toEqual(Array(6).fill(1));
      await late.close();
      expect(readdirSync(folder)).toEqual(["import.journal"]);
    },
  );

  /** Its locks are as those of another machine of which nothing was heard for a minute. */
  function takeForDead(): void {
    for (const lock of locks()) {
      const silent = `${path}.0123456789ab-1-1-${lock.slice(-"00000000.lock".length)}`;
      renameSync(join(folder, lock), silent);
      const then = Date.now() / 1_000 - 60;
      utimesSync(silent, then, then);
    }
  }

  test("and goes on beside the one that took over creates nothing twice", async () => {
    const { emulator, client } = service();
    const journal = fileJournal(path);
    const takeOver = async () => {
      removeLocks();
      return bulkWrite({ items: rows, key, client, send, journal: fileJournal(path) });
    };
    let taken: ReturnType<typeof takeOver> | undefined;
    const first = bulkWrite<Row, unknown>({
      items: rows,
      key,
      journal,
      concurrency: 1,
      client,
      send: async (bound, row) => {
        if (row.id === "row-3") {
          taken = takeOver();
          await taken;
        }
        return send(bound, row);
      },
    });
    expect((await runToEnd(first)).error).toMatchObject({ reason: "in_use" });
    expect(await taken).toMatchObject({ done: 6 });
    expect(Object.values(issueCounts(emulator))).toEqual(Array(6).fill(1));
  });
});
