/** What answers in the place of the service refuses no item and does none. */
import { describe, expect, test } from "vitest";
import { bulkWrite, memoryJournal } from "../../src/bulk/index.ts";
import type { Fault } from "../../src/testing/index.ts";
import { countsOf, issueCounts, key, rowsOf, runToEnd, send, service } from "./rows.ts";

const ALWAYS = Number.POSITIVE_INFINITY;
const COUNT = 40;
const CONCURRENCY = 4;
const STOP_AFTER = 3;

/** An import through a proxy that answers every request itself, and the same one when the proxy is mended. */
async function importThrough(fault: Fault) {
  const { emulator, client } = service();
  const options = {
    client,
    items: rowsOf(COUNT),
    key,
    send,
    journal: memoryJournal(),
    concurrency: CONCURRENCY,
    stopAfter: STOP_AFTER,
  };
  const proxy = emulator.fault({ times: ALWAYS, ...fault });
  const run = bulkWrite(options);
  const summary = await countsOf(run);
  const sent = emulator.requests.length;
  proxy.remove();
  const after = await countsOf(bulkWrite(options));
  return { summary, stoppedBy: run.stoppedBy, sent, after, emulator };
}

const PAGE = "<html><title>Maintenance</title></html>";

describe("a proxy that answers itself", () => {
  // Each status has its outcome in `test/client/unit/call/outcome.test.ts`.
  test.each<[string, Fault, string]>([
    ["a page with 200", { status: 200, body: PAGE, headers: { "content-type": "text/html" } }, "parse"],
    ["JSON of something else", { status: 200, body: { status: "ok" } }, "validation"],
    ["a 403 of a firewall", { status: 403, body: PAGE }, "permission"],
  ])("%s: the items that it got are unknown, and the run is held and stops", async (_, fault, kind) => {
    const { summary, stoppedBy, sent, after, emulator } = await importThrough(fault);
    const lost = CONCURRENCY + STOP_AFTER - 1;
    expect(stoppedBy).toMatchObject({ kind });
    expect(summary).toMatchObject({ done: 0, refused: 0, unknown: lost, not_sent: COUNT - lost });
    expect(sent).toBe(lost);
    expect(after).toMatchObject({ done: COUNT - lost, unknown: lost, skipped: 0 });
    expect(Object.values(issueCounts(emulator))).toEqual(Array(COUNT - lost).fill(1));
  });

  test("each item that it got has a reason that says so, in that run and in the next", async () => {
    const { emulator, client } = service();
    emulator.fault({ times: 1, status: 200, body: PAGE });
    const options = { client, items: rowsOf(2), key, send, journal: memoryJournal(), concurrency: 1 };
    for (const skipped of [0, 1]) {
      const { entries } = await runToEnd(bulkWrite(options));
      const [first] = entries;
      expect(first).toMatchObject({ state: "unknown", reason: { kind: "parse", status: 200 } });
      expect(first?.reason?.message).toContain("so it may not be from the service");
      expect(entries.filter((entry) => entry.skipped)).toHaveLength(skipped);
    }
  });
});

async function sentWith(status: number, body: unknown): Promise<number> {
  const { summary, sent, after } = await importThrough({ status, body });
  expect(summary).toMatchObject({ done: 0, refused: 0, not_sent: COUNT });
  expect(after).toMatchObject({ done: COUNT });
  return sent;
}

test.each([401, 403])("a %i of the service stops the run at once", async (status) => {
  expect(await sentWith(status, { error: "said", message: "no" })).toBeLessThanOrEqual(CONCURRENCY);
});

test("a 401 of a firewall holds it, as an outage does", async () => {
  for (const body of [PAGE, "", { message: "Forbidden" }]) {
    expect(await sentWith(401, body)).toBe(CONCURRENCY + STOP_AFTER - 1);
  }
});
