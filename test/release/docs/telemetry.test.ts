/** The tables of docs/reference/telemetry.md are what the code has, and what a job records. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Client } from "../../../src/client/index.ts";
import { instrument } from "../../../src/opentelemetry/index.ts";
import { HTTP, METRICS, OWN } from "../../../src/opentelemetry/names.ts";
import { createEmulator } from "../../../src/testing/index.ts";
import { registeredTelemetry } from "../../support/telemetry.ts";
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

const recorded = registeredTelemetry();

test("a job records what the tables of spans and metrics say, and nothing else", async () => {
  const emulator = createEmulator();
  const options = { baseUrl: emulator.baseUrl, token: emulator.token, fetch: emulator.fetch };
  const settings = { retry: { minDelayMs: 30 }, validation: "lenient" } as const;
  const client = new Client(instrument({ ...options, ...settings }));
  emulator.fault({ operation: "sessions.get", status: 503 });
  emulator.fault({ operation: "sessions.get", status: 429, headers: { "retry-after": "0.02" } });
  emulator.fault({ operation: "sessions.get", status: 200, body: { id: 1 }, headers: { sunset: "soon" } });
  await client.sessions.get("ses_1");
  await client.projects.list().toArray();
  await expect(client.sessions.get("unknown")).rejects.toMatchObject({ kind: "not_found" });
  const renewing = new Client(
    instrument({ ...options, token: ({ rejected }) => (rejected === undefined ? "another" : emulator.token) }),
  );
  await renewing.sessions.get("ses_1");

  const calls = recorded().traces();
  const requests = calls.flatMap(({ children }) => children);
  const attributesOf = (spans: readonly { readonly attributes: object }[]): string[] =>
    [...new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)))].sort();
  expect(attributesOf(calls)).toEqual(namesIn("attribute of a call").sort());
  expect(attributesOf(requests)).toEqual(namesIn("attribute of a request").sort());
  expect(new Set(calls.map(({ kind }) => kind))).toEqual(new Set(["INTERNAL"]));
  expect(new Set(requests.map(({ kind }) => kind))).toEqual(new Set(["CLIENT"]));
  expect(calls[0]?.name).toBe("sessions.get");
  expect(requests[0]?.name).toBe("GET /sessions/{id}");

  const seen = new Map<string, Set<string>>();
  for (const [name, attributes] of calls.flatMap((call) => call.events)) {
    seen.set(name, new Set([...(seen.get(name) ?? []), ...Object.keys(attributes)]));
  }
  const told = rowsOf("span event").map(([name, attributes]) => [name, codesIn(attributes).sort()]);
  expect([...seen].map(([name, attributes]) => [name, [...attributes].sort()]).sort()).toEqual(told.sort());

  const measured = (await recorded().metrics()).map(({ descriptor, dataPoints }) => [
    descriptor.name,
    descriptor.unit,
    [...new Set(dataPoints.flatMap(({ attributes }) => Object.keys(attributes)))].sort(),
  ]);
  const metrics = rowsOf("metric").map(([name, kind, attributes]) => [
    name,
    codesIn(kind)[0],
    codesIn(attributes).sort(),
  ]);
  expect(measured.sort()).toEqual(metrics.sort());
});

test("the tables have each name of the code", () => {
  const attributes = ["attribute of a call", "attribute of a request"].flatMap(namesIn);
  const ofEvents = rowsOf("span event").flatMap(([, cell]) => codesIn(cell));
  expect(new Set([...attributes, ...ofEvents])).toEqual(new Set([...Object.values(HTTP), ...Object.values(OWN)]));
  expect(namesIn("metric")).toEqual(Object.values(METRICS));
});
