/** An import while its proxy is reloaded each 300 ms: what is told is what is there, and no more is in doubt than a reload breaks. */
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { bulkWrite, memoryJournal } from "../../../src/bulk/index.ts";
import { Client } from "../../../src/client/index.ts";
import { startEmulator } from "../../../src/testing/node.ts";
import { issueCounts, key, type Row, runToEnd, send } from "../../bulk/rows.ts";
import { CADDY, HAPROXY, NGINX } from "./configurations.ts";
import { type Configuration, isHere, type ProxyName, ProxyServer } from "./proxy.ts";

const RELOADS = 8;
const CONCURRENCY = 10;
/** A slow machine sends few of them while the proxy is reloaded. */
const LEAST = 200;

const PROXIES: readonly (readonly [ProxyName, Configuration])[] = [
  ["nginx", NGINX],
  ["haproxy", HAPROXY],
  ["caddy", CADDY],
];

describe.each(PROXIES.filter(([name]) => isHere(name)))("%s, reloaded each 300 ms", (name, configuration) => {
  test("during an import", async () => {
    const service = await startEmulator({ projects: [{ name: "web" }], rateLimit: false });
    await using _ = { [Symbol.asyncDispose]: service.close };
    await using proxy = await ProxyServer.start(name, configuration, service);
    let reloads = 0;
    /** Rows, until the last reload is over. */
    async function* rows(): AsyncGenerator<Row> {
      for (let index = 1; reloads < RELOADS || index <= LEAST; index += 1)
        yield { id: `row-${index}`, title: `Issue ${index}` };
    }
    const client = new Client({
      baseUrl: proxy.baseUrl,
      token: service.token,
      timeoutMs: 5_000,
      retry: { minDelayMs: 10 },
    });
    const run = bulkWrite({
      client,
      items: rows(),
      key,
      send,
      journal: memoryJournal(),
      concurrency: CONCURRENCY,
    });
    const reloading = (async () => {
      for (; reloads < RELOADS; reloads += 1) {
        await setTimeout(300);
        await proxy.reload();
      }
    })();
    const { states, error } = await runToEnd(run);
    await reloading;
    expect(error).toBeUndefined();
    expect(run.stoppedBy).toBeUndefined();

    const there = issueCounts(service.emulator);
    const lies = Object.entries(states).filter(([id, state]) => {
      const count = there[id.replace("row-", "Issue ")] ?? 0;
      return count > 1 || (state === "done" && count !== 1) || (state === "not_sent" && count !== 0);
    });
    expect(lies).toEqual([]);
    const { done, refused, unknown } = run.summary;
    expect(refused).toBe(0);
    expect(done).toBeGreaterThanOrEqual(LEAST - CONCURRENCY * RELOADS);
    expect(unknown).toBeLessThanOrEqual(CONCURRENCY * RELOADS);
  });
});
