/** nginx lets 20 requests a second through (`limit_req`), without a word of what is left. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bulkWrite, memoryJournal } from "../../../src/bulk/index.ts";
import { Client } from "../../../src/client/index.ts";
import { startEmulator } from "../../../src/testing/node.ts";
import { issueCounts, key, rowsOf, send } from "../../bulk/rows.ts";
import { nginx } from "./configurations.ts";
import { isHere, ProxyServer } from "./proxy.ts";

const COUNT = 100;
const PER_SECOND = 20;

/** A limit as its operator writes it, in front of a service that does not say what is left. */
function limited(zone: string, rest: string, perSecond: number) {
  return nginx({
    http: `limit_req_zone $http_authorization zone=tokens:1m rate=${perSecond}r/s;`,
    server: ({ service }) => `
      ${rest}
      location / {
        limit_req zone=tokens ${zone};
        proxy_hide_header ratelimit-limit;
        proxy_hide_header ratelimit-remaining;
        proxy_pass http://127.0.0.1:${service};
      }`,
  });
}

const WITH_RETRY_AFTER =
  "limit_req_status 429; error_page 429 @limited; location @limited { add_header Retry-After 1 always; return 429; }";

async function importBehind(zone: string, rest: string, perSecond = PER_SECOND) {
  const service = await startEmulator({ projects: [{ name: "web" }], rateLimit: false });
  await using _ = { [Symbol.asyncDispose]: service.close };
  await using proxy = await ProxyServer.start("nginx", limited(zone, rest, perSecond), service);
  const client = new Client({ baseUrl: proxy.baseUrl, token: service.token });
  const run = bulkWrite({ client, items: rowsOf(COUNT), key, send, journal: memoryJournal() });
  const error = await run.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const log = readFileSync(join(proxy.place.folder, "access.log"), "utf8").trim().split("\n");
  const answers = log.map((line) => line.split(" ")).map(([, method, status]) => ({ method, status: Number(status) }));
  return { summary: run.summary, error, answers, there: issueCounts(service.emulator) };
}

describe.runIf(isHere("nginx"))("limit_req of nginx", () => {
  test.concurrent.each([
    ["no burst", "", "limit_req_status 429;"],
    ["a burst", "burst=20 nodelay", "limit_req_status 429;"],
    ["a burst that nginx delays", "burst=20", "limit_req_status 429;"],
    ["no burst, Retry-After: 1", "", WITH_RETRY_AFTER],
  ])("%s: all rows get through, and few requests are refused", async (_, zone, rest) => {
    const { summary, error, answers, there } = await importBehind(zone, rest);
    const refusals = answers.filter(({ status }) => status === 429).length;
    expect(error).toBeUndefined();
    expect(summary).toMatchObject({ done: COUNT });
    expect(Object.values(there)).toEqual(Array(COUNT).fill(1));
    // At full width after each pause it was six for a row. The rate is measured in bench/bucket.
    expect(refusals).toBeLessThan(COUNT / 2);
  });

  test("its default, a 503: the run stops, and what is told is true", async () => {
    const { summary, error, answers, there } = await importBehind("", "", 2);
    expect(error).toMatchObject({ kind: "bulk", stoppedBy: { kind: "server", status: 503 } });
    expect(summary.refused).toBe(0);
    expect(Object.values(there)).toEqual(Array(summary.done).fill(1));
    const refused = answers.filter(({ method, status }) => method === "POST" && status === 503);
    expect(summary.unknown).toBe(refused.length);
    // A read gets through, and the ten writes behind it do not. Then, again and again: a read and a write get through, and the
    // two behind them are refused together, which counts as one failure. A slow machine widens a little more.
    expect(summary.unknown).toBeLessThan(COUNT / 2);
    expect(summary.done + summary.unknown + summary.not_sent).toBe(COUNT);
  });
});
