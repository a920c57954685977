/** The tables of docs/bulk.md about the ends of a run: each row is run, and a row that is not known here fails. */
import { describe, expect, test } from "vitest";
import { type BulkRun, bulkWrite, type Journal } from "../../../src/bulk/index.ts";
import { type Client, isAutomationError, TokenProviderError } from "../../../src/client/index.ts";
import { clientOf, type Row, rowsOf, runToEnd } from "../../bulk/rows.ts";
import { ALWAYS, type Options, setUp } from "./bulk-set-up.ts";
import { boundRows, tableOf } from "./tables.ts";

describe("docs/bulk.md, await it or iterate it", () => {
  const { rows } = tableOf("docs/bulk.md", "", "`await run`");

  /** What an awaited run ends with, in the words of the page. */
  async function awaited(run: BulkRun<Row, unknown>, firstError: () => unknown): Promise<string> {
    const failure = run.finish().then(
      (summary) => expect(summary).toEqual(run.summary),
      (error: unknown) => error,
    );
    const error = await failure;
    if (!isAutomationError(error)) return "the final counts";
    if (error.kind === "journal" && error.reason === "undecided")
      return `rejects with a \`${error.name}\` (\`undecided\`)`;
    if (error.kind === "journal" || error.kind === "argument") return "rejects";
    if (error === run.stoppedBy) return "rejects with `run.stoppedBy`";
    return error === firstError() ? "rejects with the error of the first item it sent" : "rejects with another error";
  }

  async function iterated(run: BulkRun<Row, unknown>): Promise<string> {
    const { error, entries } = await runToEnd(run);
    if (error !== undefined) return "rejects after the last entry";
    return entries.every(({ state }) => state === "done") ? "an entry as each item ends" : "ends after the last entry";
  }

  const full = (): Options => {
    const { options, journal } = setUp();
    journal.space = 3;
    return { ...options, concurrency: 1 };
  };
  const cases: Readonly<Record<string, readonly (() => Options | Promise<Options>)[]>> = {
    gives: [() => setUp().options],
    "stopped by an outage, a refused token or `signal`": [
      () => setUp({ status: 503 }, { stopAfter: 2, concurrency: 1 }).options,
      () => setUp({ status: 401 }).options,
      () => setUp(undefined, { signal: AbortSignal.abort() }).options,
    ],
    "nothing got through, and something is left": [() => setUp({ drop: "after" }, { stopAfter: false }).options],
    "everything left is `unknown` from earlier runs": [
      async () => {
        const { emulator, options } = setUp({ drop: "after" }, { stopAfter: false });
        await runToEnd(bulkWrite(options));
        return { ...options, client: clientOf(emulator) };
      },
    ],
    "journal fails; `items`, `key` or `send` is unusable": [
      full,
      () => setUp(undefined, { items: 7 as never }).options,
      () => setUp(undefined, { key: () => "same" }).options,
      () => setUp(undefined, { send: async () => 1 }).options,
    ],
  };

  test.each(boundRows(rows, cases))("$first", async ({ cells, run }) => {
    for (const optionsOf of run) {
      const options = await optionsOf();
      let first: unknown;
      const sendAndNote = async (client: Client, row: Row) => {
        try {
          return await options.send(client, row);
        } catch (error) {
          if (row.id === "row-1") first = error;
          throw error;
        }
      };
      const seen = await awaited(bulkWrite({ ...options, send: sendAndNote }), () => first);
      expect([seen, await iterated(bulkWrite(await optionsOf()))]).toEqual(cells);
    }
  });
});

describe("docs/bulk.md, what the run does", () => {
  const { rows } = tableOf("docs/bulk.md", "what happens", "what the run does");
  const ran = async (options: Options) => {
    const run = bulkWrite(options);
    const { states, error } = await runToEnd(run);
    return { run, error, states: Object.values(states) };
  };
  const cases: Readonly<Record<string, () => Promise<string>>> = {
    "`stopAfter` failures": async () => {
      for (const status of [404, 405]) {
        const { emulator, options } = setUp({ status }, { stopAfter: 2, concurrency: 1 });
        const { run, states } = await ran({
          ...options,
          send: (client) => client.issues.create("wbe", { title: "One", type: "bug" }),
        });
        expect([emulator.requests.length, states]).toEqual([2, Array(6).fill("not_sent")]);
        expect(String(run.stoppedBy)).toMatch(/projects\/\{project\}\/issues.*"wbe"/s);
      }
      return "stops; after a 404 or 405, `run.stoppedBy` names the path and the value in it, such as a misspelt project";
    },
    "401 or 403 of the service, a redirect, a failing token provider": async () => {
      for (const fault of [{ status: 401 }, { status: 403 }, { status: 301, headers: { location: "/x" } }]) {
        const { emulator, options } = setUp(fault, { concurrency: 1 });
        expect((await ran(options)).run.stoppedBy).toMatchObject({ status: fault.status });
        expect(emulator.requests).toHaveLength(1);
      }
      const { emulator, options } = setUp();
      const token = (): never => {
        throw new Error("the vault is closed");
      };
      expect((await ran({ ...options, client: clientOf(emulator, { token }) })).run.stoppedBy).toBeInstanceOf(
        TokenProviderError,
      );
      expect(emulator.requests).toEqual([]);
      return "stops at once";
    },
    "you `break` or abort `signal`": async () => {
      const { emulator, options } = setUp(undefined, { concurrency: 2 });
      for await (const _ of bulkWrite(options)) break;
      const sent = emulator.requests.length;
      expect(sent).toBeLessThan(6);
      expect(emulator.issues.list("web")).toHaveLength(sent); // those in flight have ended
      const graceMs = 20;
      const silent = setUp({ delayMs: ALWAYS }, { graceMs, concurrency: 2 });
      const stop = new AbortController();
      const run = bulkWrite({ ...silent.options, signal: stop.signal });
      const ending = runToEnd(run);
      await expect.poll(() => silent.emulator.requests.length).toBe(2);
      stop.abort();
      expect(Object.values((await ending).states).sort()).toEqual([...Array(4).fill("not_sent"), "unknown", "unknown"]);
      return "sends nothing more, waits `graceMs` for requests in flight";
    },
    "the journal fails (a full disk)": async () => {
      const { emulator, journal, options } = setUp(undefined, { concurrency: 1 });
      const appended: Journal["append"] = (records) => {
        if (emulator.requests.length === 2) journal.space = 0;
        return journal.append(records);
      };
      const failing = { load: () => journal.load(), append: appended };
      const { error } = await ran({ ...options, journal: failing });
      expect(error).toMatchObject({ name: "JournalError", reason: "failed" });
      expect(emulator.requests).toHaveLength(2);
      return "stops before the next request, with `JournalError`";
    },
  };
  test.each(boundRows(rows, cases))("$first", async ({ cells, run }) => expect([await run()]).toEqual(cells));
});

describe("docs/bulk.md, what an outage costs", () => {
  const { rows } = tableOf("docs/bulk.md", "outage", "what it costs by default");
  /** 400 items at a service that fails at each request of which this is so; the reads of the run are requests, too. */
  async function costOf(fails: (request: number) => boolean, operation?: "issues.create") {
    const { options, emulator } = setUp();
    let requests = 0;
    emulator.fault({ operation, match: () => fails(++requests), times: ALWAYS, status: 503 });
    const run = bulkWrite({ ...options, client: clientOf(emulator, { fetch: emulator.fetch }), items: rowsOf(400) });
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
