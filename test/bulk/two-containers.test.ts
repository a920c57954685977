/**
 * One journal file in two containers: each has a folder of its own for the lock, so the file itself keeps the runs apart.
 * No row is sent twice, and what a run took away again is sent by the next one.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bulkWrite } from "../../src/bulk/index.ts";
import { fileJournal } from "../../src/bulk/node.ts";
import { Client } from "../../src/client/index.ts";
import { startEmulator } from "../../src/testing/node.ts";
import { bundled } from "../support/child-program.ts";
import type { ContainedEnd, ContainedTask } from "./contained-run.ts";
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

/** Runs as in containers of their own, which begin at once; without mount namespaces, as ones that see no lock file. */
async function runIn(
  containers: readonly string[],
  task: Omit<ContainedTask, "path" | "seesNoLock">,
): Promise<string[]> {
  const children = containers.map((container) => startIn(container, task));
  await Promise.all(children.map(({ stdout }) => once(stdout, "data"))); // it is ready
  return Promise.all(
    children.map(async (child) => {
      child.stdin.end();
      const printed = await text(child.stdout);
      return (JSON.parse(printed) as ContainedEnd).end;
    }),
  );
}

function startIn(container: string, task: Omit<ContainedTask, "path" | "seesNoLock">) {
  const own = MOUNTS ? pathIn(container) : path;
  const mounted = MOUNTS ? [...MOUNTED, path, own] : [];
  const all = { ...task, path: own, seesNoLock: !MOUNTS } satisfies ContainedTask;
  const [command = "", ...args] = [...mounted, process.execPath, "--no-warnings", PROGRAM, JSON.stringify(all)];
  return spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
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
      for (const end of await runIn(["a", "b"], { baseUrl, token, rows }))
        expect(end).toMatch(/^done$|^in_use: the journal has \d+ bytes, and had \d+/);
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
    expect(await runIn(["a"], { baseUrl, token, rows: 3 })).toEqual(["done"]);
    expect(Object.values(issueCounts(service.emulator))).toEqual([1, 1, 1]);
    expect(statSync(path).size).toBeGreaterThan(0);
    await service.close();
  });
});
