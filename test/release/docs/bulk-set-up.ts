/** What runs of the tables of docs/bulk.md begin with. */
import type { BulkOptions } from "../../../src/bulk/index.ts";
import type { Fault } from "../../../src/testing/index.ts";
import { key, type Row, rowsOf, send, service } from "../../bulk/rows.ts";
import { WatchedJournal } from "../../bulk/watched-journal.ts";

export const ALWAYS = Number.POSITIVE_INFINITY;
export type Options = BulkOptions<Row, unknown>;

/** The options of a run of six rows, each of whose writes meets a fault. */
export function setUp(fault?: Fault, more: Partial<Options> = {}) {
  const { emulator, client } = service();
  if (fault !== undefined) emulator.fault({ times: ALWAYS, ...fault });
  const journal = new WatchedJournal();
  return { emulator, journal, options: { client, items: rowsOf(6), key, send, journal, ...more } };
}
