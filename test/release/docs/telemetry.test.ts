/** The tables of docs/reference/telemetry.md are what the code has, and what a job records. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HTTP, METRICS, OWN } from "../../../src/opentelemetry/names.ts";
import { root } from "./snippets.ts";

const page = readFileSync(join(root, "docs/reference/telemetry.md"), "utf8");
const codesIn = (cell = ""): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

/** The rows of the table whose first column has this heading: the names in the first cell, and the other cells. */
function rowsOf(heading: string): (readonly [name: string, ...cells: string[]])[] {
  const [, table = ""] = page.split(`\n| ${heading} |`);
  const [, , ...lines] = (table.split("\n\n")[0] ?? "").split("\n");
  return lines.map((line) => {
    const [first, ...cells] = line.split("|").slice(1, -1);
    return [codesIn(first)[0] ?? "", ...cells.map((cell) => cell.trim())];
  });
}
const namesIn = (heading: string): string[] => rowsOf(heading).map(([name]) => name);

const events = readFileSync(join(root, "src/core/events.ts"), "utf8");
/** The fields of an interface of the events, those of the interfaces that it extends first. */
function fieldsOf(name: string): string[] {
  const [, parents = "", body = ""] =
    new RegExp(`interface ${name}(?: extends (.*?))? \\{(.*?)\\n\\}`, "s").exec(events) ?? [];
  const own = [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, field = ""]) => field);
  const inherited = parents.includes("Waits")
    ? ["waitMs", "queueMs", "tokenMs"]
    : parents.includes("Durations")
      ? fieldsOf("Durations")
      : [];
  return [...inherited, ...own.filter((field) => field !== "type")];
}

const interfaces = new Map(
  [...events.matchAll(/interface (\w+Event) extends [^{]*\{\s*readonly type: "(\w+)"/g)].map(
    ([, name = "", type = ""]) => [type, name],
  ),
);

test("each event has a row, and each row the fields of its event", () => {
  expect(namesIn("event").sort()).toEqual([...interfaces.keys()].sort());
  const told = rowsOf("event").map(([type, fields]) => [type, codesIn(fields).sort()]);
  expect(told).toEqual(namesIn("event").map((type) => [type, fieldsOf(interfaces.get(type) ?? "").sort()]));
  expect(namesIn("duration")).toEqual(fieldsOf("Durations"));
});

test("the tables have each name of the code", () => {
  const attributes = ["attribute of a call", "attribute of a request"].flatMap(namesIn);
  const ofEvents = rowsOf("span event").flatMap(([, cell]) => codesIn(cell));
  expect(new Set([...attributes, ...ofEvents])).toEqual(new Set([...Object.values(HTTP), ...Object.values(OWN)]));
  expect(namesIn("metric")).toEqual(Object.values(METRICS));
});
