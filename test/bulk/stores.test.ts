/** The journals of several processes in Postgres and Redis, of `examples/`, on real servers. */
import { Redis } from "ioredis";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresJournal, TABLE } from "../../examples/postgres-journal.ts";
import { redisJournal } from "../../examples/redis-journal.ts";
import { bulkWrite, type Journal, type JournalRecord } from "../../src/bulk/index.ts";
import { PostgresServer, SKIPS_POSTGRES } from "../support/postgres-server.ts";
import { RedisServer, SKIPS_REDIS } from "../support/redis-server.ts";
import { issueCounts, key, type Row, rowsOf, runToEnd, send, service } from "./rows.ts";

interface Store extends AsyncDisposable {
  readonly journal: (name: string) => Journal;
  /** Breaks every connection of a journal, as a server that is restarted does. */
  readonly cut: () => Promise<void>;
}

async function inPostgres(): Promise<Store> {
  const server = await PostgresServer.start();
  const pool = new pg.Pool({ connectionString: server.url });
  pool.on("error", () => {}); // of an idle connection that is cut
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(TABLE);
  const terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()";
  return {
    journal: (name) => postgresJournal(pool, name),
    cut: async () => void (await admin.query(`${terminate} AND backend_type = 'client backend'`)),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([pool.end(), admin.end()]);
      await server[Symbol.asyncDispose]();
    },
  };
}

async function inRedis(): Promise<Store> {
  const server = await RedisServer.start();
  const [redis, admin] = [new Redis(server.port), new Redis(server.port)];
  redis.on("error", () => {}); // it connects anew
  return {
    journal: (name) => redisJournal(redis, name),
    cut: async () => void (await admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")),
    [Symbol.asyncDispose]: async () => {
      redis.disconnect();
      admin.disconnect();
      await server[Symbol.asyncDispose]();
    },
  };
}

const record = (name: string, revision: number): JournalRecord => ({
  key: name,
  state: "sending",
  at: "2026-01-01T00:00:00.000Z",
  revision,
});

const STORES = [
  { name: "Postgres", open: inPostgres, skips: SKIPS_POSTGRES },
  { name: "Redis", open: inRedis, skips: SKIPS_REDIS },
];

describe.each(STORES)("the journal in $name", ({ open, skips }) => {
  describe.skipIf(skips)("on a server", () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store[Symbol.asyncDispose]());

    test("keeps states, references and reasons for later runs", async () => {
      const { emulator, client } = service();
      emulator.fault({ status: 500, body: { error: "internal", message: "the disk is full" } });
      emulator.fault({ skip: 1, status: 429, headers: { "retry-after": "0" } });
      const options = { client, items: rowsOf(30), key, send, concurrency: 1, reference: () => 7 };
      const first = await runToEnd(bulkWrite({ ...options, journal: store.journal("later") }));
      const run = bulkWrite({ ...options, journal: store.journal("later") });
      const second = await runToEnd(run);
      expect(run.summary).toEqual({ done: 29, refused: 0, not_sent: 0, unknown: 1, skipped: 29 });
      expect(second.entries[0]?.reason).toEqual(first.entries[0]?.reason);
      expect(second.entries[1]?.reference).toBe(7);
      expect(emulator.requests).toHaveLength(31);
    });

    test("lets one of two workers send that were given one job at the same moment", async () => {
      const { emulator, client } = service();
      const waiting: (() => void)[] = [];
      /** Neither goes on before both have loaded. */
      const journal = (): Journal => {
        const inner = store.journal("one job");
        const load = async () => {
          const records = await inner.load();
          await new Promise<void>((goOn) => {
            waiting.push(goOn);
            if (waiting.length === 2) for (const each of waiting) each();
          });
          return records;
        };
        return { ...inner, load };
      };
      const options = { client, items: rowsOf(1), key, send };
      const ends = await Promise.all([1, 2].map(() => runToEnd(bulkWrite({ ...options, journal: journal() }))));
      expect(issueCounts(emulator)).toEqual({ "Issue 1": 1 });
      expect(ends.map(({ states }) => states["row-1"]).sort()).toEqual(["done", "not_sent"]);
      const [error] = ends.flatMap((end) => end.error ?? []);
      expect(error).toMatchObject({ kind: "journal", reason: "in_use" });
      expect(await runToEnd(bulkWrite({ ...options, journal: store.journal("one job") }))).toMatchObject({
        states: { "row-1": "done" },
      });
      expect(emulator.requests).toHaveLength(1);
    });

    test("refuses a batch whole if one of its records is there", async () => {
      const journal = store.journal("batch");
      await journal.append([record("a", 1), record("a", 2)]);
      await expect(journal.append([record("b", 1), record("a", 2)])).rejects.toMatchObject({ reason: "in_use" });
      expect(await journal.load()).toEqual([record("a", 1), record("a", 2)]);
      await journal.append([record("b", 1), record("a", 3)]);
      expect(await journal.load()).toHaveLength(4);
    });

    test("whose connections are cut makes no duplicate, in this run and in the next one", async () => {
      const { emulator, client } = service();
      const options = { client, items: rowsOf(40), key, concurrency: 4 };
      const cutting = async (bound: typeof client, row: Row) => {
        if (row.id === "row-9") await store.cut();
        return send(bound, row);
      };
      await runToEnd(bulkWrite({ ...options, send: cutting, journal: store.journal("cut") }));
      const { states } = await runToEnd(bulkWrite({ ...options, send, journal: store.journal("cut") }));
      const counts = issueCounts(emulator);
      for (const { id, title } of rowsOf(40)) {
        if (states[id] === "done") expect(counts[title], id).toBe(1);
        else expect([id, states[id], counts[title] ?? 0]).toEqual([id, "unknown", expect.toBeOneOf([0, 1])]);
      }
      const unknown = Object.values(states).filter((state) => state === "unknown");
      expect(unknown.length, "those whose records were on their way").toBeLessThanOrEqual(4);
    });
  });
});

test.skipIf(SKIPS_REDIS)("a Redis with `appendfsync always` has each record after a kill", async () => {
  await using server = await RedisServer.start(["--appendonly", "yes", "--appendfsync", "always"]);
  const redis = new Redis(server.port);
  redis.on("error", () => {}); // it is killed
  for (let revision = 1; revision <= 50; revision += 1) {
    await redisJournal(redis, "durable").append([record("a", revision)]);
  }
  await server.kill();
  await server.start();
  expect(await redisJournal(redis, "durable").load()).toHaveLength(50);
  redis.disconnect();
});
