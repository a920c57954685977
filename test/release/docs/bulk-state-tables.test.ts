/** The tables of docs/bulk.md about items and journals: each row is run, and a row that is not known here fails. */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bulkWrite, type Journal, JournalError } from "../../../src/bulk/index.ts";
import { fileJournal } from "../../../src/bulk/node.ts";
import { Client } from "../../../src/client/index.ts";
import type { Fault } from "../../../src/testing/index.ts";
import { rowsOf, runToEnd } from "../../bulk/rows.ts";
import { type Options, setUp } from "./bulk-set-up.ts";
import { boundRows, tableOf } from "./tables.ts";

const MODULE = pathToFileURL(join(import.meta.dirname, "../../../src/bulk/node.ts")).href;

describe("docs/bulk.md, the four states", () => {
  const { rows } = tableOf("docs/bulk.md", "state", "meaning", "the next run");
  /** What a run leaves behind that meets the fault, and what the next ones do with it at a service that is well. */
  async function after(fault: Fault | undefined) {
    const { emulator, options } = setUp(fault && { ...fault, times: 1 }, { items: rowsOf(1), concurrency: 1 });
    const states = async (more: Partial<Options> = {}) => {
      const sent = emulator.requests.length;
      const { entries } = await runToEnd(bulkWrite({ ...options, ...more }));
      return [entries[0]?.state, entries[0]?.skipped, emulator.requests.length - sent];
    };
    return { emulator, first: (await states())[0], states };
  }
  const cases: Readonly<Record<string, () => Promise<string>>> = {
    "`done`": async () => {
      const { first, states } = await after(undefined);
      expect([first, await states()]).toEqual(["done", ["done", true, 0]]);
      return "skips it";
    },
    "`refused`": async () => {
      const { first, states } = await after({ status: 422 });
      expect([first, await states()]).toEqual(["refused", ["refused", true, 0]]);
      expect(await states({ retryRefused: true })).toEqual(["done", false, 1]);
      return "skips it, unless you set `retryRefused: true`";
    },
    "`not_sent`": async () => {
      const { first, states } = await after({ status: 404 });
      expect([first, await states()]).toEqual(["not_sent", ["done", false, 1]]);
      return "sends it";
    },
    "`unknown`": async () => {
      const { first, states } = await after({ status: 503 });
      expect([first, (await states())[0]]).toEqual(["unknown", "unknown"]);
      expect((await states({ resolveUnknown: async () => "applied" }))[0]).toBe("done");
      return "asks `resolveUnknown`, else reports it";
    },
  };
  test.each(boundRows(rows, cases))("$first", async ({ cells, run }) => expect(await run()).toBe(cells[1]));
});

describe("a journal that cannot be used", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "bulk-tables-"));
    path = join(folder, "import.journal");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Why a run with this journal ends, if not well. */
  async function reasonOf(journal: Journal, more: Partial<Options> = {}): Promise<JournalError | undefined> {
    const run = bulkWrite({ ...setUp(undefined, { journal }).options, ...more });
    return await run.then(
      () => undefined,
      (error: unknown) => (error instanceof JournalError ? error : Promise.reject(error)),
    );
  }
  const { rows } = tableOf("docs/bulk.md", "`JournalError.reason`");
  const cases: Readonly<Record<`\`${JournalError["reason"]}\``, () => Promise<JournalError | undefined>>> = {
    "`in_use`": async () => {
      const { journal, options } = setUp();
      const first = bulkWrite(options).finish();
      const error = await reasonOf(journal, { client: options.client });
      expect(await first).toMatchObject({ done: 6 }); // then it may be used
      expect(await bulkWrite(options)).toMatchObject({ skipped: 6 });
      return error;
    },
    "`damaged`": async () => {
      await bulkWrite(setUp(undefined, { journal: fileJournal(path) }).options);
      appendFileSync(path, "{}\n{}\n");
      const lines = readFileSync(path, "utf8").trimEnd().split("\n").length;
      const error = await reasonOf(fileJournal(path));
      expect(error).toMatchObject({ line: lines - 1 });
      return error;
    },
    "`not_a_journal`": async () => {
      const text = "#!/bin/sh\n".repeat(9);
      writeFileSync(path, text);
      const error = await reasonOf(fileJournal(path));
      expect(readFileSync(path, "utf8")).toBe(text);
      expect((await reasonOf(fileJournal(folder)))?.reason).toBe("not_a_journal");
      return error;
    },
    "`misused`": async () => {
      const { options } = setUp(undefined, { journal: fileJournal(path, { id: "one" }) });
      await bulkWrite(options);
      expect((await reasonOf(fileJournal(path, { id: "two" })))?.reason).toBe("misused");
      const client = new Client({ baseUrl: "https://other.example/api/v1", token: "pat_a_b" });
      expect((await reasonOf(fileJournal(path, { id: "one" }), { client }))?.reason).toBe("misused");
      linkSync(path, join(folder, "second"));
      return await reasonOf(fileJournal(path, { id: "one" }), { client: options.client });
    },
    "`failed`": async () => {
      const { journal } = setUp();
      journal.space = 0;
      const error = await reasonOf(journal);
      expect(error?.cause).toMatchObject({ code: "ENOSPC" });
      return error;
    },
    "`undecided`": async () => {
      const { options, journal } = setUp({ drop: "after" }, { stopAfter: false });
      await runToEnd(bulkWrite(options));
      const error = await reasonOf(journal, { client: options.client });
      const resolveUnknown = async () => "applied" as const;
      expect(await bulkWrite({ ...options, resolveUnknown })).toMatchObject({ done: 6 });
      return error;
    },
  };
  test.each(boundRows(rows, cases))("docs/bulk.md, $first", async ({ first, run }) => {
    expect(`\`${(await run())?.reason}\``).toBe(first);
  });

  const locks = tableOf("docs/reference/bulk-journal.md", "the other run", "your run").rows;
  const runs: Readonly<Record<string, () => Promise<string>>> = {
    "is alive": async () => {
      const journal = fileJournal(path);
      for await (const _ of await journal.load());
      expect((await reasonOf(fileJournal(path)))?.reason).toBe("in_use");
      await journal.close();
      return "fails with `in_use`";
    },
    "died on this machine or in this container": async () => {
      const held = `for await (const _ of await fileJournal(${JSON.stringify(path)}).load());`;
      const program = `import { fileJournal } from "${MODULE}";\n${held}\nprocess.kill(process.pid, "SIGKILL");`;
      spawnSync(process.execPath, ["--input-type=module", "--eval", program]);
      expect(readdirSync(folder).filter((name) => name.endsWith(".lock"))).toHaveLength(1);
      expect(await reasonOf(fileJournal(path))).toBeUndefined();
      return "takes over at once";
    },
    "was on another machine or in another container": async () => {
      const lock = `${path}.0123456789ab-1-1-00000000.lock`;
      writeFileSync(lock, "is held");
      const seen = (secondsAgo: number): void => utimesSync(lock, Date.now() / 1_000, Date.now() / 1_000 - secondsAgo);
      seen(15);
      expect((await reasonOf(fileJournal(path)))?.reason).toBe("in_use");
      seen(31);
      expect(await reasonOf(fileJournal(path))).toBeUndefined();
      return "takes over 30 s after its last sign of life";
    },
  };
  test.each(boundRows(locks, runs))("docs/reference/bulk-journal.md, $first", async ({ cells, run }) =>
    expect([await run()]).toEqual(cells),
  );
});

test("docs/bulk.md, the fields of a reason are those that a run records", async () => {
  const { options } = setUp({
    status: 422,
    body: { error: "invalid", message: "No" },
    headers: { "x-request-id": "r" },
  });
  const { entries } = await runToEnd(bulkWrite(options));
  const fields = tableOf("docs/bulk.md", "field of `reason`").rows.flatMap(([names = ""]) => names.match(/\w+/g) ?? []);
  expect(Object.keys(entries[0]?.reason ?? {}).sort()).toEqual([...fields].sort());
});

test("docs/reference/bulk-journal.md, the fields of a record are those that a run writes", async () => {
  const { options, journal, emulator } = setUp(undefined, { reference: () => 1, concurrency: 1 });
  emulator.fault({ status: 422 });
  await runToEnd(bulkWrite(options));
  const fields = tableOf("docs/reference/bulk-journal.md", "field").rows.map(([name]) => name?.replaceAll("`", ""));
  expect([...new Set(journal.records.flatMap((record) => Object.keys(record)))].sort()).toEqual([...fields].sort());
});
