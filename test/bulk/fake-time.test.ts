/** The recipe of docs/testing.md: an import through the pauses of a rate limit under fake timers, with both journals. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { bulkWrite, type Journal, memoryJournal } from "../../src/bulk/index.ts";
import { fileJournal } from "../../src/bulk/node.ts";
import { Client } from "../../src/client/index.ts";
import { createEmulator } from "../../src/testing/index.ts";
import { issueCounts, key, rowsOf, send } from "./rows.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fake-time-"));
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

test.each<[string, () => Journal]>([
  ["memoryJournal", memoryJournal],
  ["fileJournal", () => fileJournal(join(folder, "import.journal"))],
])("with %s", async (_, journal) => {
  const emulator = createEmulator({ projects: [{ name: "web" }], rateLimit: false });
  const limited = emulator.fault({
    operation: "issues.create",
    skip: 20,
    status: 429,
    headers: { "retry-after": "60" },
  });
  const client = new Client({ ...emulator.clientOptions, timeoutMs: false });
  const run = bulkWrite({ client, items: rowsOf(50), key, send, journal: journal() });
  let isOver = false;
  async function advance(): Promise<void> {
    while (!isOver) {
      await setImmediate();
      const pauseMs = Number(run.progress.pausedUntil ?? 0) - Number(vi.getMockedSystemTime());
      await vi.advanceTimersByTimeAsync(Math.max(pauseMs, 10));
    }
  }
  const over = run.finally(() => {
    isOver = true;
  });
  const [summary] = await Promise.all([over, advance()]);
  expect(summary).toEqual({ done: 50, skipped: 0 });
  expect(limited.hits).toBe(1);
  expect(Object.values(issueCounts(emulator))).toEqual(Array(50).fill(1));
});
