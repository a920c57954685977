/** The stores of the examples, whose reply to one append is lost: the record is there, and nobody else has written it. */
import { Redis } from "ioredis";
import pg from "pg";
import { Client } from "project-automation";
import { bulkWrite, type Journal } from "project-automation/bulk";
import { createEmulator } from "project-automation/testing";
import { describe, expect, test } from "vitest";
import { postgresJournal, TABLE } from "../../../examples/postgres-journal.ts";
import { redisJournal } from "../../../examples/redis-journal.ts";
import { PostgresServer, SKIPS_POSTGRES } from "../../support/postgres-server.ts";
import { RedisServer, SKIPS_REDIS } from "../../support/redis-server.ts";
import { LossyProxy } from "./queues/lossy-proxy.ts";

interface Store extends AsyncDisposable {
  readonly proxy: LossyProxy;
  /** Stands in each request that appends. */
  readonly appends: string;
  readonly journal: (name: string) => Journal;
}

async function inPostgres(): Promise<Store> {
  const server = await PostgresServer.start();
  const url = new URL(server.url);
  const proxy = await LossyProxy.start(Number(url.port));
  url.port = String(proxy.port);
  const pool = new pg.Pool({ connectionString: url.href });
  pool.on("error", () => {}); // of the connection that breaks
  await pool.query(TABLE);
  return {
    proxy,
    appends: "INSERT INTO bulk_records",
    journal: (name) => postgresJournal(pool, name),
    [Symbol.asyncDispose]: async () => {
      await pool.end();
      await proxy[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function inRedis(): Promise<Store> {
  const server = await RedisServer.start();
  const proxy = await LossyProxy.start(server.port);
  const redis = new Redis(proxy.port);
  redis.on("error", () => {}); // of the connection that breaks
  return {
    proxy,
    appends: "HSET",
    journal: (name) => redisJournal(redis, name),
    [Symbol.asyncDispose]: async () => {
      redis.disconnect();
      await proxy[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe.each([
  { name: "Postgres", open: inPostgres, skips: SKIPS_POSTGRES },
  { name: "Redis", open: inRedis, skips: SKIPS_REDIS },
])("the journal in $name", ({ open, skips }) => {
  test.skipIf(skips)("whose reply to an append is lost sends the item, and records its end", async () => {
    await using store = await open();
    const emulator = createEmulator();
    const client = new Client(emulator.clientOptions);
    const items = ["before", "after"];
    for (const item of items) {
      const run = bulkWrite({
        client,
        items: [item],
        key: (title) => title,
        send: (client, title) => {
          if (item === "after") store.proxy.loseReplyTo(store.appends); // that of the end
          return client.issues.create("web", { title, type: "task" });
        },
        journal: store.journal(item),
      });
      if (item === "before") store.proxy.loseReplyTo(store.appends); // that of the request
      expect(await run).toMatchObject({ done: 1 });
    }
    expect(store.proxy.lost).toBe(2);
    expect(emulator.issues.list("web").map(({ title }) => title)).toEqual(items);
    for (const item of items) expect(await store.journal(item).load()).toHaveLength(2);
  });
});
