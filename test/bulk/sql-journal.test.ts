/** The journal in Postgres of docs/reference/bulk-journal.md, as it stands there, with a real Postgres. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { transform } from "esbuild";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bulkWrite, type Journal } from "../../src/bulk/index.ts";
import { PostgresServer, SKIPS_POSTGRES } from "../support/postgres-server.ts";
import { issueCounts, key, type Row, rowsOf, runToEnd, send, service } from "./rows.ts";

const TABLE = "CREATE TABLE bulk_records (job text, key text, record jsonb NOT NULL, PRIMARY KEY (job, key))";

describe.skipIf(SKIPS_POSTGRES)("the journal in Postgres", () => {
  let server: PostgresServer;
  let admin: pg.Client;
  let folder: string;
  let sqlJournal: (connectionString: string, job: string) => Journal;
  beforeAll(async () => {
    server = await PostgresServer.start();
    admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    folder = mkdtempSync(join(tmpdir(), "sql-journal-"));
    const page = readFileSync(resolve(import.meta.dirname, "../../docs/reference/bulk-journal.md"), "utf8");
    const [, code = ""] = /^```ts\n(.*?)^```$/ms.exec(page) ?? [];
    expect(code).toContain(`// ${TABLE}\n`);
    await admin.query(TABLE);
    const file = join(folder, "sql-journal.mjs");
    const driver = pathToFileURL(createRequire(import.meta.url).resolve("pg")).href;
    const bulk = pathToFileURL(resolve(import.meta.dirname, "../../src/bulk/index.ts")).href;
    const addresses: Record<string, string> = { pg: driver, "project-automation/bulk": bulk };
    const { code: compiled } = await transform(code, { loader: "ts" });
    writeFileSync(
      file,
      compiled.replaceAll(/(?<=from ")[^"]+/g, (name) => addresses[name] ?? name),
    );
    ({ sqlJournal } = (await import(pathToFileURL(file).href)) as { sqlJournal: typeof sqlJournal }); // the snippet exports it
  });
  afterAll(async () => {
    await admin.end();
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  const connections = async (): Promise<number> => {
    const { rows } = await admin.query<{ count: string }>(
      "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    );
    return Number(rows[0]?.count);
  };

  test("keeps states, references and reasons for later runs", async () => {
    const { emulator, client } = service();
    emulator.fault({ status: 422, body: { error: "invalid", message: "no such type" } });
    const options = { client, items: rowsOf(30), key, send, concurrency: 1, reference: () => 7 };
    const first = await runToEnd(bulkWrite({ ...options, journal: sqlJournal(server.url, "later") }));
    const run = bulkWrite({ ...options, journal: sqlJournal(server.url, "later") });
    const second = await runToEnd(run);
    expect(run.summary).toEqual({ done: 29, refused: 1, not_sent: 0, unknown: 0, skipped: 30, otherTokens: 0 });
    expect(second.entries[0]?.reason).toEqual(first.entries[0]?.reason);
    expect(second.entries[1]?.reference).toBe(7);
    expect(emulator.requests).toHaveLength(30);
    await expect.poll(connections).toBe(0);
  });

  test("keeps a second run out of the same process, with an object of its own and with the same", async () => {
    const { emulator, client } = service();
    const journal = sqlJournal(server.url, "both");
    const options = { client, items: rowsOf(20), key, send };
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const waiting = (bound: typeof client, row: Row) => opened.then(() => send(bound, row));
    const run = bulkWrite({ ...options, journal, send: waiting });
    const first = runToEnd(run);
    await expect.poll(() => run.progress.underWay).toBe(10);
    for (const other of [journal, sqlJournal(server.url, "both")]) {
      const { error } = await runToEnd(bulkWrite({ ...options, journal: other }));
      expect(error).toMatchObject({ reason: "in_use", message: expect.stringContaining("another run uses") });
    }
    open();
    expect((await first).error).toBeUndefined();
    expect(Object.values(issueCounts(emulator))).toEqual(Array(20).fill(1));
    await bulkWrite({ ...options, journal }); // its lock is free
    await expect.poll(connections).toBe(0);
  });

  test("whose connection is lost stops the run, and the next one makes no duplicate", async () => {
    const { emulator, client } = service();
    const options = { client, items: rowsOf(40), key, concurrency: 4 };
    const cutting = async (bound: typeof client, row: Row) => {
      if (row.id === "row-9") {
        await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()");
      }
      return send(bound, row);
    };
    const { error } = await runToEnd(bulkWrite({ ...options, send: cutting, journal: sqlJournal(server.url, "cut") }));
    expect(error).toMatchObject({ kind: "journal", reason: "failed" });
    await runToEnd(bulkWrite({ ...options, send, journal: sqlJournal(server.url, "cut") }));
    const counts = Object.values(issueCounts(emulator));
    expect(counts).toEqual(counts.map(() => 1));
    expect(counts.length).toBeGreaterThanOrEqual(36);
  });
});
