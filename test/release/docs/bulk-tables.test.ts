/** The figures and names in the tables of docs/bulk.md and its reference. test/bulk has what a run does in each row. */
import { describe, expect, test } from "vitest";
import { bulkWrite, type JournalError } from "../../../src/bulk/index.ts";
import { clientOf, key, rowsOf, runToEnd, send, service } from "../../bulk/rows.ts";
import { WatchedJournal } from "../../bulk/watched-journal.ts";
import { boundRows, tableOf } from "./tables.ts";

const ALWAYS = Number.POSITIVE_INFINITY;

describe("docs/bulk.md, what an outage costs", () => {
  const { rows } = tableOf("docs/bulk.md", "outage", "what it costs by default");
  /** 400 items at a service that fails at each request of which this is so; the reads of the run are requests, too. */
  async function costOf(fails: (request: number) => boolean, operation?: "issues.create") {
    const { emulator } = service();
    let requests = 0;
    emulator.fault({ operation, match: () => fails(++requests), times: ALWAYS, status: 503 });
    const client = clientOf(emulator, { fetch: emulator.fetch });
    const run = bulkWrite({ client, items: rowsOf(400), key, send, journal: new WatchedJournal() });
    await runToEnd(run);
    return { unknown: run.summary.unknown, stops: run.stoppedBy !== undefined };
  }
  /** Checks that each of these runs has stopped, and has left a number of items `unknown` that the page names. */
  const between = async (least: number, most: number, runs: readonly ReturnType<typeof costOf>[]): Promise<string> => {
    for (const { unknown, stops } of await Promise.all(runs)) {
      expect([stops, unknown >= least, unknown <= most], `${unknown} unknown`).toEqual([true, true, true]);
    }
    return `${least} to ${most} \`unknown\` items, then the run stops`;
  };
  const cases: Readonly<Record<string, () => Promise<string>>> = {
    "the service is down when the run begins": async () => {
      expect(await costOf(() => true)).toEqual({ unknown: 0, stops: true });
      return "none is sent, none is `unknown`; then the run stops";
    },
    "it goes down later": async () => {
      await between(1, 10, [costOf((request) => request > 31), costOf((request) => request > 2)]);
      return "what is in progress: at most `concurrency` items are `unknown`; then the run stops";
    },
    "one bad backend out of two, three or four": () =>
      between(
        10,
        20,
        [2, 3, 4].map((backends) => costOf((request) => request % backends === 0)),
      ),
    "a limit that answers 503, as nginx does by default": () =>
      // Of the first ten one gets through; then one by itself does, and the two behind it are refused together.
      between(20, 75, [costOf((request) => (request <= 10 ? request > 1 : (request - 11) % 3 !== 0), "issues.create")]),
    "writes fail, and reads do not": async () => {
      expect(await costOf(() => true, "issues.create")).toEqual({ unknown: 10 + 10 - 1, stops: true });
      return "at most `concurrency + stopAfter - 1` `unknown` items";
    },
    "one failure in twenty": async () => {
      expect(await costOf((request) => request % 20 === 0, "issues.create")).toEqual({ unknown: 20, stops: false });
      return "those items; the run goes on";
    },
  };
  test.each(boundRows(rows, cases))("$first", async ({ cells, run }) => expect([await run()]).toEqual(cells));
});

describe("the names in a table are those of the code", () => {
  /** The first cells of a table, without their quotes. */
  const named = (...table: Parameters<typeof tableOf>): string[] =>
    tableOf(...table).rows.flatMap(([names = ""]) => names.match(/\w+/g) ?? []);

  test("docs/bulk.md, the reasons of a JournalError", () => {
    const reasons: Readonly<Record<JournalError["reason"], true>> = {
      in_use: true,
      damaged: true,
      not_a_journal: true,
      misused: true,
      failed: true,
    };
    expect(named("docs/bulk.md", "`JournalError.reason`")).toEqual(Object.keys(reasons));
  });

  test("the fields of a reason and of a record", async () => {
    const { emulator, client } = service();
    emulator.fault({ status: 422, body: { error: "invalid", message: "No" }, headers: { "x-request-id": "r" } });
    const journal = new WatchedJournal();
    const options = { client, items: rowsOf(2), key, send, journal, concurrency: 1, reference: () => 1 };
    const { entries } = await runToEnd(bulkWrite(options));
    const fieldsOf = (objects: readonly object[]): string[] => [...new Set(objects.flatMap(Object.keys))].sort();
    expect(fieldsOf([entries[0]?.reason ?? {}])).toEqual(named("docs/bulk.md", "field of `reason`").sort());
    expect(fieldsOf(journal.records)).toEqual(named("docs/reference/bulk-journal.md", "field").sort());
  });
});
