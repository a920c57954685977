/** Runs of one process that share a journal file and see no lock of each other. No row is sent twice. */
import { mkdtempSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { JournalError, type JournalRecord } from "../../src/bulk/index.ts";
import { fileJournal } from "../../src/bulk/node.ts";
import { shareOf } from "../support/all-tests.ts";
import { hideLocks } from "./contained-run.ts";

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
      { numRuns: shareOf(100), endOnFailure: true },
    );
  } finally {
    show();
  }
  // Both ends were met.
  expect(Math.min(seen.ended, seen.withdrawn)).toBeGreaterThan(0);
});
