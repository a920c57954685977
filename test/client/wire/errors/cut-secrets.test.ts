/** Wherever a token stands in a body, and wherever the body is cut: no beginning of it is left in the error. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Client, type FetchFunction } from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { BASE } from "../../../support/scripted-fetch.ts";
import { textsOf } from "../../../support/sweep.ts";

const clientOf = (token: string, fetch: FetchFunction): Client =>
  new Client({ baseUrl: BASE, token, fetch, retry: false });

describe("however a body is cut", () => {
  /** Characters that occur in no filler, so that what is left of a token can be told from the text around it. */
  const token = fc
    .tuple(
      fc.string({ unit: fc.constantFrom(..."ABCDEFGHJK"), minLength: 3, maxLength: 8 }),
      fc.string({ unit: fc.constantFrom(..."LMNPQRSTUV"), minLength: 3, maxLength: 8 }),
      fc.string({ unit: fc.constantFrom(..."ABCDEFGHJKLMNPQRSTUV23456789"), minLength: 12, maxLength: 40 }),
    )
    .map((parts) => parts.join("_"));
  const filler = fc.string({ unit: fc.constantFrom(..."abcdefghi jklmnopq.,:;<>{}[]()/\n"), maxLength: 2_100 });
  const SHAPES: Readonly<Record<string, (content: string) => string>> = {
    text: (content) => content,
    "a JSON string": (content) => JSON.stringify(content),
    "a message": (content) => JSON.stringify({ error: content, message: content }),
    "a nested value": (content) => JSON.stringify({ a: [{ b: content, [content]: 1 }] }),
    "cut JSON": (content) => JSON.stringify({ message: content }).slice(0, -2),
    "a page": (content) => `<pre>${content}</pre>`,
  };

  /** The longest beginning of the token that occurs in what can be had from the error. */
  function shownOf(secret: string, error: unknown): string {
    const texts = textsOf(error);
    for (let length = secret.length; length >= 6; length -= 1) {
      const beginning = secret.slice(0, length);
      if (texts.some((one) => one.includes(beginning))) return beginning;
    }
    return "";
  }

  const answering =
    (body: string, status: number): FetchFunction =>
    async () =>
      new Response(body, { status });

  test.each(Object.entries(SHAPES))("in %s: a token at any offset leaves no beginning of it", async (_, shape) => {
    await fc.assert(
      fc.asyncProperty(token, filler, filler, async (secret, before, after) => {
        const fetch = answering(shape(`${before} ${secret} ${after}`), 400);
        const error = await rejection(clientOf(secret, fetch).sessions.get("s"));
        expect(shownOf(secret, error)).toBe("");
      }),
      { numRuns: 60 },
    );
  });

  test("at every offset around the limits of 2,000 characters and 64 KiB", async () => {
    const secret = "LIVE_KEYID_ABCDEFGHJKLMNPQRSTUV23456789";
    for (const limit of [2_000, 64 * 1024]) {
      for (let offset = limit - secret.length - 8; offset <= limit + 2; offset += 1) {
        const fetch = answering(`${"x".repeat(offset)}${secret}${"y".repeat(40)}`, 400);
        const error = await rejection(clientOf(secret, fetch).sessions.get("s"));
        expect(shownOf(secret, error), `${offset}`).toBe("");
      }
    }
  });

  test("in the cause, when a fetch quotes it", async () => {
    await fc.assert(
      fc.asyncProperty(token, filler, filler, async (secret, before, after) => {
        const fetch: FetchFunction = () => {
          throw new TypeError(`${before}${secret}`, { cause: new Error(`${secret}${after}`) });
        };
        const error = await rejection(clientOf(secret, fetch).sessions.get("s"));
        expect(shownOf(secret, error)).toBe("");
      }),
      { numRuns: 60 },
    );
  });
});
