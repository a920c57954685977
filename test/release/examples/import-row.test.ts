/** The run of one row, whose end decides about its job and about the queue. */
import { Client } from "project-automation";
import { type Journal, JournalError, type JournalRecord, memoryJournal } from "project-automation/bulk";
import { createEmulator, type Fault } from "project-automation/testing";
import { expect, test } from "vitest";
import { importRow, type RowEnd } from "../../../examples/import-row.ts";

const ROW = { key: "night/web/1", project: "web", title: "One", type: "task" };
const refusal = (status: number): Fault => ({ status, body: { error: "refused", message: "no" } });

const taken = async (): Promise<void> => {
  throw new JournalError("another run uses the journal night/web/1", { reason: "in_use" });
};

const full = async ([record]: readonly JournalRecord[]): Promise<void> => {
  if (record?.state === "done") throw new Error("the disk is full");
};

interface Trouble {
  readonly fault?: Fault;
  readonly journal?: Partial<Journal>;
}

const ENDS: readonly (readonly [what: string, trouble: Trouble, end: Partial<RowEnd>])[] = [
  ["an issue", {}, { state: "done", reference: 1, isOutage: false }],
  ["a 422", { fault: refusal(422) }, { state: "refused", isOutage: false }],
  ["a 403 of the project", { fault: refusal(403) }, { state: "not_sent", isOutage: false }],
  ["a 404 of the project", { fault: refusal(404) }, { state: "not_sent", isOutage: false }],
  ["a 401", { fault: refusal(401) }, { state: "not_sent", isOutage: true }],
  ["a 503", { fault: { status: 503 } }, { state: "unknown", isOutage: true }],
  ["a lost response", { fault: { drop: "after" } }, { state: "unknown", isOutage: true }],
  ["another worker with its job", { journal: { append: taken } }, { state: "not_sent", isOutage: false }],
  ["a journal that fails at its end", { journal: { append: full } }, { state: "done", reference: 1, isOutage: false }],
  [
    "a journal that cannot be read",
    { journal: { load: () => taken().then(() => []) } },
    { state: "not_sent", isOutage: false },
  ],
];

test.each(ENDS)("with %s", async (_, { fault, journal }, end) => {
  const emulator = createEmulator();
  if (fault !== undefined) emulator.fault({ operation: "issues.create", ...fault });
  const client = new Client(emulator.clientOptions);
  const kept = memoryJournal();
  const store: Journal = { load: () => kept.load(), append: (records) => kept.append(records), ...journal };
  expect(await importRow(client, ROW, { journal: store })).toMatchObject(end);
});
