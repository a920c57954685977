/** In which state an item ends, and what the next run makes of it. */
import { describe, expect, test } from "vitest";
import { bulkWrite, memoryJournal } from "../../src/bulk/index.ts";
import { clientOf, key, type Row, rowsOf, runToEnd, send, service, titled } from "./rows.ts";

const [row] = rowsOf(1) as [Row];

describe("a run", () => {
  test.each([
    [
      "throws",
      () => {
        throw new Error("no number");
      },
      "reference failed",
    ],
    ["returns an object", () => ({}) as never, "reference must return a string or a number"],
    ["rejects", () => Promise.reject(new Error("no number")) as never, "reference must return a string or a number"],
  ])("an item is done though its reference %s, and the run ends with that", async (_, reference, message) => {
    const { client } = service();
    const options = { items: [row], key, client, send, journal: memoryJournal(), reference };
    const { entries, error } = await runToEnd(bulkWrite(options));
    const [entry] = entries;
    expect(entry).toMatchObject({ state: "done", error });
    expect(error).toMatchObject({ kind: "argument", message: expect.stringContaining(message) });
    expect(entry?.result).toMatchObject({ title: row.title });
  });
});

/** All others are in the table of `send-state.test.ts`. */
const CASES = [
  { name: "a conflict", fault: { status: 409 }, state: "refused", next: "done" },
  { name: "a missing project", fault: { status: 404 }, state: "not_sent", next: "done" },
  { name: "a connection lost after", fault: { drop: "after" as const }, state: "unknown", next: "unknown" },
];

describe("an item is", () => {
  test.each(CASES)("$state after $name, and $next after the next run", async ({ fault, state, next }) => {
    const { emulator, client } = service();
    emulator.fault({ ...titled(row.title), ...fault });
    const journal = memoryJournal();
    const options = { items: [row], key, client, send, journal };
    expect((await runToEnd(bulkWrite(options))).states).toEqual({ "row-1": state });
    // In another process, which knows of no pause.
    const { entries } = await runToEnd(bulkWrite({ ...options, client: clientOf(emulator), send }));
    expect(entries).toMatchObject([{ state: next, skipped: false }]);
    expect(emulator.requests).toHaveLength(next === "done" ? 2 : 1);
  });
});

describe("resolveUnknown", () => {
  const lose = async () => {
    const { emulator, client } = service();
    emulator.fault({ drop: "after" });
    const options = { items: [row], key, client, send, journal: memoryJournal() };
    expect((await runToEnd(bulkWrite(options))).states).toEqual({ "row-1": "unknown" });
    return { emulator, options };
  };

  test.each([
    ["applied", "done", 1],
    ["not_applied", "done", 2],
    ["undecided", "unknown", 1],
  ] as const)("%s makes it %s, after %i requests", async (resolution, state, requests) => {
    const { emulator, options } = await lose();
    const asked: unknown[] = [];
    const resolveUnknown = async (item: Row, unknown: { key: string; recordedAt: Date }) => {
      asked.push(item, unknown.key, unknown.recordedAt instanceof Date);
      return resolution;
    };
    expect((await runToEnd(bulkWrite({ ...options, resolveUnknown }))).states).toEqual({ "row-1": state });
    expect(asked).toEqual([row, "row-1", true]);
    expect(emulator.requests).toHaveLength(requests);
    // What it decided has been recorded.
    expect((await runToEnd(bulkWrite(options))).states).toEqual({ "row-1": state });
    expect(emulator.requests).toHaveLength(requests);
  });

  test("leaves the item unknown and the run going if it fails", async () => {
    const { options } = await lose();
    const resolveUnknown = () => Promise.reject(new Error("search is down"));
    const { entries, error } = await runToEnd(bulkWrite({ ...options, resolveUnknown }));
    expect(error).toBeUndefined();
    expect(entries).toMatchObject([
      { state: "unknown", error: { kind: "argument", cause: { message: "search is down" } } },
    ]);
  });

  test("ends the run if it returns something else", async () => {
    const { options } = await lose();
    const { states, error } = await runToEnd(bulkWrite({ ...options, resolveUnknown: () => true as never }));
    expect(states).toEqual({ "row-1": "unknown" });
    expect(error).toMatchObject({
      kind: "argument",
      message: expect.stringContaining("applied, not_applied, undecided"),
    });
  });
});
