/** What is true of each queue with a journal for each job, and what is not without one. */
import { expect } from "vitest";
import { Fleet, keyOf, type QueueOfTest } from "./fleet.ts";
import type { Order, Point } from "./hook.ts";

const kill = (point: Point): Order => ({ point, signal: "SIGKILL" });
const stop = (point: Point): Order => ({ point, signal: "SIGSTOP" });

/** What is done to the three workers, round by round: 30 kills and 10 stops. */
const ROUNDS: readonly (readonly Order[])[] = [
  ...["recorded", "sent", "answered", "loaded", "recorded"].map((point) => [
    stop("recorded"),
    stop("loaded"),
    kill(point as Point),
  ]),
  ...Array.from({ length: 8 }, () => [kill("recorded"), kill("sent"), kill("answered")]),
  [kill("loaded")],
];
const ROWS = 2_000;
/** The rows whose first response is lost. */
const LOST = Array.from({ length: 10 }, (_, index) => `r${100 * (index + 1)}`);

/**
 * The whole import: it must create no row twice and lose none, and can say of each what became of it. Resolves with what
 * was done to it.
 */
export async function importUnderFire(queue: QueueOfTest): Promise<Readonly<Record<string, number>>> {
  await using fleet = await Fleet.start(queue, { size: 3 });
  const { emulator } = fleet.service;
  const lost = LOST.map((row) =>
    emulator.fault({ operation: "issues.create", match: ({ body }) => titleOf(body) === row, drop: "after" }),
  );
  const size = Math.ceil(ROWS / (ROUNDS.length + 1));
  for (const [index, orders] of ROUNDS.entries()) {
    await fleet.disturb(size, orders, async () => {
      if (index === 7) await fleet.rotateToken();
    });
  }

  const outage = emulator.fault({ times: Number.POSITIVE_INFINITY, status: 503 });
  await fleet.add(ROWS - fleet.rows.length);
  await expect.poll(() => outage.hits).toBeGreaterThan(20);
  outage.remove();

  await fleet.whenEnded();
  expect(await fleet.attempt("settle")).toMatchObject({ code: 1, output: expect.stringContaining("workers first") });
  await fleet.dismiss();
  expect([fleet.kills, fleet.stops]).toEqual([30, 10]);
  const neverSent = LOST.filter((_, index) => lost[index]?.hits === 0);
  // A worker that was stopped may find the job of another one when it goes on, and then sends nothing.
  const mayBeUnsent = new Set([...fleet.underWayAtKills, ...fleet.underWayAtStops]);
  expect(
    neverSent.filter((row) => !mayBeUnsent.has(row)),
    "never sent, though no worker was killed or stopped before its request",
  ).toEqual([]);
  expect(lost.length - neverSent.length, "responses that were lost").toBeGreaterThanOrEqual(5);
  for (const fault of lost) fault.remove();
  expect(twice(fleet)).toEqual([]);
  expect(fleet.refused.length, "those that were stopped before their record").toBeGreaterThanOrEqual(5);

  // No worker is left, so the journals can be asked about the jobs that failed while a worker was stopped.
  const unknown = unknownOf(await fleet.command("settle"));
  await finish(fleet);
  const inOutage = emulator.requests
    .filter(({ operation, status }) => operation === "issues.create" && status === 503)
    .map(({ body }) => titleOf(body));
  const explained = new Set([...fleet.underWayAtKills, ...LOST, ...inOutage]);
  expect(
    unknown.filter((row) => !explained.has(row)),
    "unknown, and neither killed nor lost nor in the outage",
  ).toEqual([]);
  for (const row of fleet.rows) {
    if (!unknown.includes(row)) expect([row, fleet.created.get(row)]).toEqual([row, 1]);
  }

  // Somebody has looked.
  const settled = unknown.flatMap((row) => [fleet.created.has(row) ? "--applied" : "--not-applied", keyOf(row)]);
  await fleet.command("settle", ...settled);
  await finish(fleet);
  expect(await queue.counts()).toEqual({ done: ROWS, failed: 0, open: 0 });
  expect(fleet.created.size).toBe(ROWS);
  expect(twice(fleet)).toEqual([]);
  const { kills, killsOfRequests, stops, stopsOfRequests, refused } = fleet;
  return { kills, killsOfRequests, stops, stopsOfRequests, refused: refused.length, unknown: unknown.length };
}

const titleOf = (body: unknown): string => (body as { title: string }).title; // an issue of the example

const twice = ({ created }: Fleet): string[] => [...created].flatMap(([row, times]) => (times > 1 ? row : []));

/** One worker ends what is left. */
async function finish(fleet: Fleet): Promise<void> {
  fleet.hire();
  await fleet.whenEnded();
  await fleet.dismiss();
}

function unknownOf(settled: string): string[] {
  return [...settled.matchAll(/^unknown: \S+\/(r\d+) /gm)].map(([, row = ""]) => row);
}

/** How many rows are created twice if two of three workers are killed, without a store. */
export async function duplicatesOf(queue: QueueOfTest): Promise<number> {
  await using fleet = await Fleet.start(queue, { size: 3, hasStore: false });
  await fleet.disturb(60, [kill("answered"), kill("answered")]);
  await fleet.whenEnded();
  await fleet.dismiss(); // those that went on have sent
  return twice(fleet).length;
}
