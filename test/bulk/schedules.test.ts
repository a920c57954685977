/**
 * Three runs on one journal under a random schedule: what the service does to each request, what `send` does beside its
 * call, when the journal fails, and when and how the run is stopped. Whatever happens: at most one issue for each key,
 * each key in one state, and a state that is true.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { bulkWrite, type Resolution } from "../../src/bulk/index.ts";
import { ArgumentError, type Client } from "../../src/client/index.ts";
import { platformTurn } from "../../src/core/time/clock.ts";
import type { Fault } from "../../src/testing/index.ts";
import { shareOf } from "../support/all-tests.ts";
import { issueCounts, key, type Row, rowsOf, runToEnd, send, service, titled } from "./rows.ts";
import { WatchedJournal } from "./watched-journal.ts";

const ROWS = 8;
/** More than a run takes in which everything ends: what never does is only ended by a stop. */
const MANY_TURNS = 1_000;

/** What the service does to a request of an item. */
const FAULTS: readonly (Fault | undefined)[] = [
  undefined,
  undefined,
  { drop: "before" },
  { drop: "after" },
  { status: 500 },
  { status: 500, apply: true },
  { status: 429, headers: { "retry-after": "0" } },
  { status: 404 },
  { status: 422 },
  { status: 201, apply: true, body: "<html>" },
  { delayMs: Number.POSITIVE_INFINITY },
];

/** What `send` does with a row. Only a few do what ends the run, or what only a stop ends. */
const ALLOWED = ["right", "reads before", "reads after", "reads beside", "hides errors", "forgets"] as const;
const NOT_ALLOWED = ["fails before", "fails after", "writes twice", "writes nothing", "never ends"] as const;
const manner = fc.oneof(
  { weight: 14, arbitrary: fc.constantFrom(...ALLOWED) },
  { weight: 1, arbitrary: fc.constantFrom(...NOT_ALLOWED) },
);

const run = fc.record({
  faults: fc.array(fc.nat(FAULTS.length - 1), { minLength: ROWS, maxLength: ROWS }),
  manners: fc.array(manner, { minLength: ROWS, maxLength: ROWS }),
  reads: fc.constantFrom(undefined, 404, 409, 500, 403),
  concurrency: fc.constantFrom(1, 3, 8),
  endsAfter: fc.option(fc.nat(ROWS), { freq: 2 }),
  stopAfter: fc.constantFrom<number | false>(false, 1, 3),
  how: fc.constantFrom("signal", "break"),
  space: fc.constantFrom(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 3, 6),
  isStream: fc.boolean(),
});
type Schedule = typeof run extends fc.Arbitrary<infer Value> ? Value : never;

async function execute(world: ReturnType<typeof service>, journal: WatchedJournal, schedule: Schedule): Promise<void> {
  const { emulator, client } = world;
  const rows = rowsOf(ROWS);
  const faults = rows.flatMap(({ title }, index) => {
    const fault = FAULTS[schedule.faults[index] ?? 0];
    return fault === undefined ? [] : [emulator.fault({ ...titled(title), ...fault })];
  });
  const isRead = {
    match: ({ method }: { readonly method: string }) => method === "GET",
    times: Number.POSITIVE_INFINITY,
  };
  if (schedule.reads !== undefined) faults.push(emulator.fault({ ...isRead, status: schedule.reads }));
  journal.space = journal.records.length + schedule.space;
  const act = async (bound: Client, row: Row): Promise<unknown> => {
    const does = schedule.manners[rows.findIndex(({ id }) => id === row.id)] ?? "right";
    const read = () => bound.projects.list().page();
    if (does === "reads before") await read();
    if (does === "fails before") throw new ArgumentError("not this one");
    if (does === "writes nothing") return read().catch(() => 1);
    const call = send(bound, row);
    if (does === "forgets") {
      return 1;
    }
    if (does === "hides errors") return call.catch(() => 1);
    if (does === "reads beside") return (await Promise.all([call, read()]))[0];
    const made = await call;
    if (does === "reads after") await read();
    if (does === "writes twice") await send(bound, row);
    if (does === "fails after") throw new Error("the database is down");
    return does === "never ends" ? new Promise(() => {}) : made;
  };
  const stop = new AbortController();
  let isOver = false;
  const stopInTheEnd = async (): Promise<void> => {
    for (let turn = 0; turn < MANY_TURNS && !isOver; turn += 1) await platformTurn();
    stop.abort();
  };
  void stopInTheEnd();
  const bulk = bulkWrite({
    items: schedule.isStream ? rows.values() : rows,
    client,
    key,
    send: act,
    journal,
    concurrency: schedule.concurrency,
    stopAfter: schedule.stopAfter,
    signal: stop.signal,
    graceMs: 0,
  });
  const states: Record<string, string> = {};
  const iterate = async (): Promise<void> => {
    let ended = 0;
    for await (const entry of bulk) {
      expect(states).not.toHaveProperty(entry.key);
      states[entry.key] = entry.state;
      expect(entry.reason === undefined, entry.key).toBe(entry.state === "done");
      ended += 1;
      if (ended !== schedule.endsAfter) continue;
      if (schedule.how === "break") break;
      stop.abort();
    }
  };
  await iterate().catch((error: unknown) => {
    if (!["ArgumentError", "JournalError", "SendError", "BulkError"].includes((error as Error).name)) throw error;
  });
  isOver = true;
  for (const fault of faults) fault.remove();
  journal.space = Number.POSITIVE_INFINITY;

  const counts = issueCounts(emulator);
  for (const { id, title } of rows) {
    const count = counts[title] ?? 0;
    expect(count, id).toBeLessThanOrEqual(1);
    if (states[id] === "done") expect(count, id).toBe(1);
    if (states[id] === "refused" || states[id] === "not_sent") expect(count, id).toBe(0);
  }
  const { done, refused, not_sent, unknown } = bulk.summary;
  if (!schedule.isStream) expect(done + refused + not_sent + unknown).toBe(ROWS);
  expect(journal.closed).toBeGreaterThan(0);
}

test("no schedule makes a duplicate, loses an item, or tells what is not true", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(run, { minLength: 3, maxLength: 3 }), async (schedules) => {
      const world = service({ retry: { minDelayMs: 1, maxDelayMs: 1 } });
      const journal = new WatchedJournal();
      for (const schedule of schedules) await execute(world, journal, schedule);

      const rows = rowsOf(ROWS);
      const resolveUnknown = async ({ title }: Row): Promise<Resolution> =>
        issueCounts(world.emulator)[title] === undefined ? "not_applied" : "applied";
      const options = { items: rows, key, client: world.client, send, journal };
      const { states, error } = await runToEnd(bulkWrite({ ...options, resolveUnknown }));
      expect([error, Object.values(states)]).toEqual([undefined, Array(ROWS).fill("done")]);
      expect(Object.values(issueCounts(world.emulator))).toEqual(Array(ROWS).fill(1));
    }),
    { numRuns: shareOf(100), endOnFailure: true },
  );
});
