/** What bounds a response: its size, the items of a page, and the issues that an error lists. Nothing else does. */
import { describe, expect, test } from "vitest";
import {
  type AutomationError,
  path,
  ResponseParseError,
  ResponseValidationError,
} from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { json, text } from "../../../support/replies.ts";
import { openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire();
const create = (): Promise<unknown> => wire.client().issues.create("p", { title: "t", type: "bug" });
const list = (): Promise<unknown> => wire.client().projects.list().toArray();
const get = (): Promise<unknown> => wire.client().request({ method: "GET", path: path`/any` });
const page = (items: string): string => `{"data":[${items.slice(0, -1)}],"next_cursor":null}`;

describe("a body within maxResponseBytes may hold", () => {
  test("400 000 numbers", async () => {
    wire.script(json(Array.from({ length: 400_000 }, (_, n) => n)));
    expect(await get()).toHaveLength(400_000);
  });

  const deep = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

  test("100 000 levels, in a field that is not known", async () => {
    wire.script(text(`{"number":1,"title":"t","status":"s","deep":${deep(100_000)}}`));
    expect(await create()).toMatchObject({ number: 1 });
  });

  test("100 000 levels, in a response of another shape, whose error can be read and printed", async () => {
    const body = `{"number":"1","deep":${deep(100_000)}}`;
    wire.script(text(body));
    const error = (await rejection(create())) as AutomationError;
    expect(error).toMatchObject({ kind: "validation", rawBody: body });
    expect(() => JSON.stringify(error)).not.toThrow();
  });

  test("as many levels as a refusal has room for, whose error can be read and printed", async () => {
    wire.script(text(`{"error":"e","deep":${deep(30_000)}}`, 400));
    const error = await rejection(create());
    expect(error).toMatchObject({ kind: "bad_request", code: "e" });
    expect(() => JSON.stringify(error)).not.toThrow();
  });
});

test.each([
  { status: 200, expected: { kind: "parse" } },
  { status: 400, expected: { kind: "bad_request" } },
])(
  "an endless stream of empty parts, which leaves the process no turn, ends: $status",
  async ({ status, expected }) => {
    const empty = new ReadableStream({ pull: (body) => body.enqueue(new Uint8Array()) });
    wire.reply(() => new Response(empty, { status }));
    expect(await rejection(wire.client({ maxResponseBytes: 1_000 }).sessions.get("s"))).toMatchObject(expected);
  },
);

test("a body of exactly maxResponseBytes is read", async () => {
  const body = JSON.stringify({ id: "s", state: "on" });
  wire.script(text(body));
  expect(await wire.client({ maxResponseBytes: body.length }).sessions.get("s")).toMatchObject({ id: "s" });
});

test("a larger body is a ResponseParseError, whose rawBody has what was received", async () => {
  const maxResponseBytes = 1_000;
  wire.reply(() => json({ number: 1, title: "t".repeat(maxResponseBytes), status: "s" }, 201));
  const error = await rejection(wire.client({ maxResponseBytes }).issues.create("p", { title: "t", type: "bug" }));
  expect(error).toBeInstanceOf(ResponseParseError);
  expect(error).toMatchObject({ outcome: "accepted", status: 201, rawBody: expect.stringMatching(/^\{"number":1,/) });
  const { message } = error as AutomationError;
  expect(message).toContain("larger than maxResponseBytes");
  expect(message).toContain("the service accepted it: do not send it again");
});

describe("issues are listed up to a bound", () => {
  test("in a page of wrong items", async () => {
    wire.script(text(page("0,".repeat(10_000))));
    const error = (await rejection(list())) as ResponseValidationError;
    expect(error).toBeInstanceOf(ResponseValidationError);
    expect(error.issues).toHaveLength(101);
    expect(error.issues.at(-1)).toEqual({ path: [], message: "9900 more issues are not listed" });
    expect(error.message.length).toBeLessThan(600);
  });

  test("in one record, whose plaintext is not lost", async () => {
    const token = { id: "t", name: "n", key_id: "k", plaintext: "pat_k_s", expires_at: "2030-01-01T00:00:00Z" };
    wire.script(json({ ...token, scopes: Array(30_000).fill(0) }, 201));
    const error = (await rejection(wire.client().tokens.create({ name: "n", scopes: [] }))) as ResponseValidationError;
    expect(error.issues).toHaveLength(101);
    expect(error.issues.at(-1)?.message).toBe("29900 more issues are not listed");
    expect(error.rawBody).toContain("pat_k_s");
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
