/** The statuses of docs/errors.md, for the visitors of the reader's own server, are those of `toHttpStatus`. */
import { expect, test } from "vitest";
import { Client, isAutomationError, toHttpStatus } from "../../../src/client/index.ts";
import { tableOf } from "./tables.ts";

const words = (cell: string): string[] => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, kind = ""]) => kind);

/** Each kind of the table, with the status beside it: of the one in the row, or of those in their order. */
const rows = tableOf("docs/errors.md", "status", "for").rows.flatMap(([statuses = "", kinds = ""]) => {
  const codes = statuses.split(", ").map(Number);
  const named = words(kinds);
  return named.map((kind, index) => [kind, codes[codes.length === named.length ? index : 0] ?? 0] as const);
});

/** An error of any kind: `toHttpStatus` goes by that. */
function errorOf(kind: string): unknown {
  try {
    return new Client({ baseUrl: "nowhere" });
  } catch (error) {
    expect(isAutomationError(error)).toBe(true);
    return Object.create(error as object, { kind: { value: kind } }); // it is one
  }
}

test("has each kind of error once", () => {
  const kinds = tableOf("docs/errors.md", "class").rows.flatMap(([, kind = ""]) => words(kind));
  expect(kinds.length).toBeGreaterThan(15);
  expect(rows.map(([kind]) => kind).sort()).toEqual(kinds.sort());
});

test.each(rows)("%s: %i", (kind, status) => {
  expect(toHttpStatus(errorOf(kind))).toBe(status);
});
