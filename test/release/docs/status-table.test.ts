/** The statuses of docs/errors.md, for the visitors of the reader's own server, are those of `toHttpStatus`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Client, isAutomationError, toHttpStatus } from "../../../src/client/index.ts";
import { root } from "./snippets.ts";

const errors = readFileSync(join(root, "docs/errors.md"), "utf8");
const [, section = ""] = errors.split("## Answering your own users");
const [classes = ""] = errors.split("## What an error holds");

/** Each kind of the table, with the status beside it: of the one in the row, or of those in their order. */
const rows = [...section.matchAll(/^\| ([\d, ]+) \| (.*) \|$/gm)].flatMap(([, statuses = "", kinds = ""]) => {
  const codes = statuses.split(", ").map(Number);
  const named = [...kinds.matchAll(/`([a-z_]+)`/g)].map(([, kind = ""]) => kind);
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
  const kinds = [...classes.matchAll(/^\| `\w+Error` \| `(\w+)` \|/gm)].map(([, kind = ""]) => kind);
  expect(kinds.length).toBeGreaterThan(15);
  expect(rows.map(([kind]) => kind).sort()).toEqual(kinds.sort());
});

test.each(rows)("%s: %i", (kind, status) => {
  expect(toHttpStatus(errorOf(kind))).toBe(status);
});
