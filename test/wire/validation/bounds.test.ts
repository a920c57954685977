/** The bounds of a response: more is a typed error, and its issues are listed up to a bound. */
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { path, ResponseParseError, ResponseValidationError } from "../../../src/index.ts";
import { rejection } from "../../support/promises.ts";
import { json, text } from "../../support/replies.ts";
import { openWire } from "../../support/scripted-fetch.ts";

const wire = openWire();
const create = (): Promise<unknown> => wire.client().issues.create("p", { title: "t", type: "bug" });
const list = (): Promise<unknown> => wire.client().projects.list().toArray();
const page = (items: string): string => `{"data":[${items.slice(0, -1)}],"next_cursor":null}`;

describe("a body that is too much is a ResponseParseError with its text in rawBody", () => {
  test.each([
    { what: "100 000 levels", call: create, body: `{"number":1,"deep":${"[".repeat(100_000)}${"]".repeat(100_000)}}` },
    { what: "100 000 levels of objects", call: create, body: `${'{"a":'.repeat(100_000)}0${"}".repeat(100_000)}` },
    { what: "a million wrong items", call: list, body: page("0,".repeat(1_000_000)) },
    { what: "a million empty arrays", call: list, body: page("[],".repeat(1_000_000)) },
    { what: "a million empty objects", call: list, body: page("{},".repeat(1_000_000)) },
    { what: "many keys", call: create, body: `{${Array.from({ length: 100_000 }, (_, n) => `"${n}":0`).join()}}` },
  ])("$what", async ({ call, body }) => {
    wire.script(text(body));
    const error = (await rejection(call())) as ResponseParseError;
    expect(error).toBeInstanceOf(ResponseParseError);
    expect(error).toMatchObject({ kind: "parse", outcome: "accepted", attempts: 1, rawBody: body });
    expect(error.message).toMatch(/JSON with more than (1000 levels|32768 values)/);
  });
});

describe("issues are listed up to a bound", () => {
  test("in a page of wrong items", async () => {
    wire.script(text(page("0,".repeat(10_000))));
    const error = (await rejection(list())) as ResponseValidationError;
    expect(error).toBeInstanceOf(ResponseValidationError);
    expect(error.issues).toHaveLength(101);
    expect(error.issues.at(-1)).toEqual({ path: ["data"], message: "9900 more items are not checked" });
    expect(error.message.length).toBeLessThan(500);
  });

  test("in a page of too many items", async () => {
    wire.script(text(page("0,".repeat(10_001))));
    expect(await rejection(list())).toMatchObject({
      issues: [{ path: ["data"], message: "expected at most 10000 items" }],
    });
  });

  test("in one record, whose plaintext is not lost", async () => {
    const token = { id: "t", name: "n", key_id: "k", plaintext: "pat_k_s", expires_at: "2030-01-01T00:00:00Z" };
    wire.script(json({ ...token, scopes: Array(30_000).fill(0) }, 201));
    const error = (await rejection(wire.client().tokens.create({ name: "n", scopes: [] }))) as ResponseValidationError;
    expect(error.issues).toHaveLength(101);
    expect(error.issues.at(-1)?.message).toBe("29900 more issues are not listed");
    expect(error.rawBody).toContain("pat_k_s");
  });

  test("by a schema of another library", async () => {
    wire.script(text(page("0,".repeat(30_000))));
    const schema = z.object({ data: z.array(z.string()) });
    const request = { method: "GET", path: path`/any`, schema } as const;
    const error = (await rejection(wire.client().request(request))) as ResponseValidationError;
    expect(error.issues).toHaveLength(101);
    expect(error.issues.at(-1)?.message).toBe("29900 more issues are not listed");
  });

  test("in lenient validation, in its event", async () => {
    const counts: number[] = [];
    wire.script(text(page("0,".repeat(10_000))));
    const client = wire.client({
      validation: "lenient",
      onEvent: (event) => void (event.type === "drift" && counts.push(event.issues.length)),
    });
    expect(await client.projects.list().toArray()).toHaveLength(10_000);
    expect(counts).toEqual([101]);
  });
});
