import { describe, expect, test } from "vitest";
import {
  type ClientEvent,
  type DriftEvent,
  ResponseParseError,
  ResponseValidationError,
} from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { json, text } from "../../../support/replies.ts";
import { openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire("msw");
const issue = { number: 12, title: "t", status: "open" };
const create = (options?: Parameters<typeof wire.client>[0]): Promise<unknown> =>
  wire.client(options).issues.create("p", { title: "t", type: "bug" });

test("unknown fields and values are kept and can be read, at every level", async () => {
  const body = { ...issue, type: "saga", status: "somewhere", labels: [{ a: { b: [1, null] } }], constructor: "c" };
  wire.script(json(body));
  expect(await create()).toEqual(body);
  const page = { data: [{ id: "s", state: "dreaming", at: { x: 1 } }], next_cursor: null, total: 1 };
  wire.reply(() => json(page));
  expect((await wire.client().sessions.list("p").pages().next()).value).toEqual(page);
});

describe("a response of another shape", () => {
  test.each([
    ["number", { ...issue, number: "12" }],
    ["number", '{"number":1e400,"title":"t","status":"s"}'],
    ["title", { number: 1, status: "s" }],
    ["status", { ...issue, status: ["open"] }],
    ["", { error: "not_found" }],
    ["", null],
  ])("is a validation error: %s %j", async (field, body) => {
    const raw = typeof body === "string" && body.startsWith("{") ? body : JSON.stringify(body);
    wire.script(text(raw, 201));
    const error = (await rejection(create())) as ResponseValidationError;
    expect(error).toBeInstanceOf(ResponseValidationError);
    expect(error).toMatchObject({
      kind: "validation",
      status: 201,
      outcome: "accepted",
      attempts: 1,
      rawBody: raw,
      method: "POST",
      path: "/projects/{project}/issues",
    });
    if (field !== "") expect(error.issues[0]?.path).toEqual([field]);
    expect(error.issues.length).toBeGreaterThan(0);
    expect(wire.sent).toHaveLength(1);
  });
});

describe("a response that is not JSON", () => {
  test.each([
    ["nothing", "", "unknown"],
    ["HTML", "<!doctype html><title>Sign in</title>", "unknown"],
    ["a cut", '{"number":1,"title":"t', "accepted"],
  ])("%s is a parse error with its text in rawBody", async (_, body, outcome) => {
    wire.script(text(body, 200, { "content-type": "text/html; charset=utf-8" }));
    const error = (await rejection(create())) as ResponseParseError;
    expect(error).toBeInstanceOf(ResponseParseError);
    expect(error).toMatchObject({ kind: "parse", status: 200, outcome, rawBody: body });
    expect(error.message).toContain("text/html");
    expect(error.message).not.toContain("Sign in");
    expect(error.message.endsWith("(see rawBody)")).toBe(outcome === "accepted");
    expect(wire.sent).toHaveLength(1);
  });
});

describe("JSON in unusual forms", () => {
  test.each([
    ["a byte order mark", text(`\ufeff${JSON.stringify(issue)}`)],
    ["text/plain", text(JSON.stringify(issue), 200, { "content-type": "text/plain" })],
    ["no type", new Response(new TextEncoder().encode(JSON.stringify(issue)), { status: 200 })],
    ["white space around", text(`\r\n ${JSON.stringify(issue)} \n`)],
  ])("%s", async (_, response) => {
    wire.script(response);
    expect(await create()).toEqual(issue);
  });

  test("invalid UTF-8 inside a string breaks nothing", async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"number":1,"status":"s","title":"'),
      Buffer.from([0xff, 0xc3]),
      Buffer.from('"}'),
    ]);
    wire.script(new Response(bytes, { status: 200 }));
    expect(await create()).toMatchObject({ number: 1 });
  });

  test("a character that is split over two chunks arrives whole", async () => {
    const bytes = new TextEncoder().encode(JSON.stringify({ ...issue, title: "é🚀" }));
    const body = new ReadableStream({
      start: (stream) => {
        for (const byte of bytes) stream.enqueue(Uint8Array.of(byte));
        stream.close();
      },
    });
    expect(await create({ fetch: async () => new Response(body) })).toMatchObject({ title: "é🚀" });
  });
});

describe("lenient", () => {
  const collect = (): {
    events: DriftEvent[];
    options: { validation: "lenient"; onEvent: (event: ClientEvent) => void };
  } => {
    const events: DriftEvent[] = [];
    return {
      events,
      options: { validation: "lenient", onEvent: (event) => void (event.type === "drift" && events.push(event)) },
    };
  };

  test("returns the body as it is, and reports drift once per response", async () => {
    const { events, options } = collect();
    const body = { number: "12", title: 5, extra: 1 };
    wire.reply(() => json(body));
    expect(await create(options)).toEqual(body);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ type: "drift", operation: "issues.create", attempt: 1 });
    expect(events[0]?.issues.map(({ path }) => path)).toEqual([["number"], ["title"], ["status"]]);
  });

  test("reports nothing for a valid response", async () => {
    const { events, options } = collect();
    wire.script(json({ ...issue, more: 1 }));
    await create(options);
    expect(events).toEqual([]);
  });

  test("items of a page may be invalid, its envelope may not", async () => {
    const { events, options } = collect();
    wire.script(json({ data: [{ id: 5 }, "x", null], next_cursor: null }));
    expect(await wire.client(options).projects.list().toArray()).toEqual([{ id: 5 }, "x", null]);
    expect(events).toHaveLength(1);
    for (const bad of [
      { data: [] },
      { data: [], next_cursor: "" },
      { data: [], next_cursor: 5 },
      { data: {}, next_cursor: null },
      { data: [{ id: 5 }], next_cursor: "" },
      null,
    ]) {
      wire.reply(() => json(bad));
      expect(await rejection(wire.client(options).projects.list().toArray())).toMatchObject({ kind: "validation" });
    }
  });

  test("a body that is not JSON stays a parse error", async () => {
    wire.reply(() => text("<html>"));
    expect(await rejection(create(collect().options))).toMatchObject({ kind: "parse" });
  });
});
