/**
 * One journal file in two containers: each has a folder of its own for the lock, so the file itself keeps the runs apart.
 * No row is sent twice, and what a run took away again is sent by the next one.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { bulkWrite, JournalError, type JournalRecord } from "../../src/bulk/index.ts";
import { fileJournal } from "../../src/bulk/node.ts";
import { Client } from "../../src/client/index.ts";
import { startEmulator } from "../../src/testing/node.ts";
import { bundled } from "../support/child-program.ts";
import { type ContainedEnd, type ContainedTask, hideLocks } from "./contained-run.ts";
import { issueCounts, key, rowsOf, runToEnd, send } from "./rows.ts";

const PROGRAM = bundled(join(import.meta.dirname, "contained-run.ts"));

/** A shell that has a file under another path as well, in a folder of its own, and then turns into a program. */
const MOUNTED = ["unshare", "-m", "sh", "-c", 'mount --bind "$1" "$2" && shift 2 && exec "$@"', "sh"] as const;

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "containers-"));
  path = join(folder, "import.journal");
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** The path of the file in a container. */
function pathIn(container: string): string {
  mkdirSync(join(folder, container), { recursive: true });
  const own = join(folder, container, "import.journal");
  writeFileSync(own, "");
  return own;
}

/** Mount namespaces need root, and Linux. */
function hasNamespaces(): boolean {
  const probe = mkdtempSync(join(tmpdir(), "mount-"));
  const [from, to] = [join(probe, "from"), join(probe, "to")];
  for (const file of [from, to]) writeFileSync(file, "");
  const [command, ...args] = MOUNTED;
  const { status } = spawnSync(command, [...args, from, to, "true"]);
  rmSync(probe, { recursive: true });
  return status === 0;
}

const MOUNTS = hasNamespaces();

/** Starts a run as in a container of its own; without mount namespaces, as one that sees no lock file of another. */
async function runIn(container: string, task: Omit<ContainedTask, "path" | "seesNoLock">): Promise<string> {
  const own = MOUNTS ? pathIn(container) : path;
  const mounted = MOUNTS ? [...MOUNTED, path, own] : [];
  const all = { ...task, path: own, seesNoLock: !MOUNTS } satisfies ContainedTask;
  const [command = "", ...args] = [...mounted, process.execPath, "--no-warnings", PROGRAM, JSON.stringify(all)];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
  });
  await once(child, "close");
  return (JSON.parse(printed) as ContainedEnd).end;
}

describe(`two runs at once, ${MOUNTS ? "with mount namespaces" : "without mount namespaces: their locks are hidden"}`, () => {
  test.each([
    ["on a new file", ""],
    ["on a journal that was there", "journal"],
  ])("send no row twice: %s", { timeout: 120_000 }, async (_, before) => {
    const rows = 60;
    for (let pair = 0; pair < 10; pair += 1) {
      const service = await startEmulator({ projects: [{ name: "web" }], rateLimit: false });
      const { emulator, baseUrl, token } = service;
      const client = new Client({ baseUrl, token });
      const here = async (items = rowsOf(rows)) =>
        runToEnd(bulkWrite({ items, key, client, send, journal: fileJournal(path) }));
      rmSync(path, { force: true });
      writeFileSync(path, "");
      if (before !== "") await here(rowsOf(3));
      const task = { baseUrl, token, rows, beginsAt: Date.now() + 600 };
      const ends = await Promise.all(["a", "b"].map((container) => runIn(container, task)));
      for (const end of ends) expect(end).toMatch(/^done$|^in_use: the journal has \d+ bytes, and had \d+/);
      // A third run, alone: the file is whole.
      const { states, error } = await here();
      expect(error).toBeUndefined();
      expect(Object.keys(states)).toHaveLength(rows);
      const counts = issueCounts(emulator);
      for (const { id, title } of rowsOf(rows)) {
        const count = counts[title] ?? 0;
        // A run that loaded a line before it was taken away takes its rows for unknown.
        expect([id, states[id], count]).toEqual([
          id,
          count === 0 ? "unknown" : expect.stringMatching(/done|unknown/),
          count,
        ]);
        expect(count).toBeLessThanOrEqual(1);
      }
      await service.close();
    }
  });

  test.runIf(MOUNTS)("a run takes over a file that is mounted by itself, and cannot be replaced", async () => {
    const service = await startEmulator({ projects: [{ name: "web" }], rateLimit: false });
    writeFileSync(path, "");
    const lock = `${pathIn("a")}.0123456789ab-1-1-00000000.lock`; // of the same container, before it was started anew
    writeFileSync(lock, "is held");
    utimesSync(lock, 0, 0);
    const { baseUrl, token } = service;
    expect(await runIn("a", { baseUrl, token, rows: 3, beginsAt: 0 })).toBe("done");
    expect(Object.values(issueCounts(service.emulator))).toEqual([1, 1, 1]);
    expect(statSync(path).size).toBeGreaterThan(0);
    await service.close();
  });
});

describe("runs that do not see each other's locks", () => {
  const KEYS = Array.from({ length: 9 }, (_, index) => `row-${index}`);
  /** Two runs record it in the same millisecond. */
  const recordOf = (name: string, state: JournalRecord["state"]): JournalRecord => ({
    key: name,
    state,
    at: "2026-01-01T00:00:00.000Z",
  });

  /** A run that sends what no record names, three rows at a time. Once it has loaded the journal, it waits for `loaded`. */
  async function claim(sent: string[], loaded = async (): Promise<void> => {}): Promise<"ended" | "withdrawn"> {
    const journal = fileJournal(path);
    try {
      const known = new Set<string>();
      try {
        for await (const { key: name } of await journal.load()) known.add(name);
      } finally {
        await loaded();
      }
      const left = KEYS.filter((name) => !known.has(name));
      for (let at = 0; at < left.length; at += 3) {
        const batch = left.slice(at, at + 3);
        await journal.append(batch.map((name) => recordOf(name, "sending")));
        sent.push(...batch);
        await journal.append(batch.map((name) => recordOf(name, "done")));
      }
      return "ended";
    } catch (error) {
      expect(error).toBeInstanceOf(JournalError);
      expect(error).toMatchObject({ reason: "in_use" });
      return "withdrawn";
    } finally {
      await journal.close();
    }
  }

  /** Lets each step on a file wait for so many turns of the platform first. */
  async function slowDown(turns: readonly number[]): Promise<void> {
    const handle = await open(folder);
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    let step = 0;
    for (const operation of ["read", "stat", "write", "datasync"] as const) {
      const original = Reflect.get(prototype, operation) as () => unknown; // as it was
      vi.spyOn(prototype, operation).mockImplementation(async function (this: FileHandle, ...args: unknown[]) {
        const wait = turns[step % turns.length] ?? 0;
        step += 1;
        for (let turn = 0; turn < wait; turn += 1) await setImmediate();
        return Reflect.apply(original, this, args) as never;
      });
    }
  }

  /** Resolves when it has been called so many times. */
  function meeting(size: number): () => Promise<void> {
    let come = 0;
    let begin = (): void => {};
    const all = new Promise<void>((resolve) => {
      begin = resolve;
    });
    return () => {
      come += 1;
      if (come === size) begin();
      return all;
    };
  }

  test.each([
    ["that have loaded it: the next run sends all that they have not", true],
    // One that loads a line which is about to be taken away takes its rows for unknown.
    ["that begin at any moment", false],
  ])("send no row twice, whatever comes between the steps of runs %s", { timeout: 120_000 }, async (_, meet) => {
    const show = hideLocks();
    const seen = { ended: 0, withdrawn: 0 };
    try {
      const turns = fc.array(fc.nat({ max: 12 }), { minLength: 5, maxLength: 60 });
      const schedules = fc.record({ turns, runs: fc.integer({ min: 2, max: 4 }), isNew: fc.boolean() });
      await fc.assert(
        fc.asyncProperty(schedules, async ({ turns, runs, isNew }) => {
          const sent: string[] = [];
          rmSync(path, { force: true });
          if (!isNew) {
            const journal = fileJournal(path);
            for await (const _ of await journal.load());
            await journal.append([recordOf("other", "done")]);
            await journal.close();
          }
          await slowDown(turns);
          const loaded = meet ? meeting(runs) : undefined;
          const ends = await Promise.all(Array.from({ length: runs }, () => claim(sent, loaded)));
          vi.restoreAllMocks();
          for (const end of ends) seen[end] += 1;
          expect(await claim(sent)).toBe("ended");
          expect([...sent].sort()).toEqual(meet ? KEYS : [...new Set(sent)].sort());
        }),
        { numRuns: 100, endOnFailure: true },
      );
    } finally {
      show();
    }
    // Both ends were met.
    expect(Math.min(seen.ended, seen.withdrawn)).toBeGreaterThan(0);
  });

  test("a run waits for bytes behind its line to be taken away, and then takes its own away", async () => {
    const journal = fileJournal(path);
    for await (const _ of await journal.load());
    const handle = await open(folder);
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    const stat = Reflect.get(prototype, "stat") as () => Promise<unknown>; // as it was
    const before = readFileSync(path);
    vi.spyOn(prototype, "stat").mockImplementation(async function (this: FileHandle) {
      const own = readFileSync(path);
      if (own.length > before.length) {
        writeFileSync(path, "of another run\n", { flag: "a" });
        // The other run takes its bytes away in its own time.
        setTimeout(() => writeFileSync(path, own), 50);
      }
      return Reflect.apply(stat, this, []) as never;
    });
    await expect(journal.append([recordOf("row-1", "sending")])).rejects.toMatchObject({ reason: "in_use" });
    expect(readFileSync(path)).toEqual(before);
    await journal.close();
  });
});
