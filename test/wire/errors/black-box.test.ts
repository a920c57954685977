/** Defects that were found through the packed package. */
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { ApiError, ArgumentError, type AutomationError, ConnectionError } from "../../../src/index.ts";
import { rejection } from "../../support/promises.ts";
import { openWire } from "../../support/scripted-fetch.ts";

const wire = openWire();
const SECRET = "pat_k_aNewSecretThatNobodyKnowsYet";

test.each([
  ["a page", `<pre>{"plaintext": "${SECRET}"}</pre>`],
  ["text", `created token ${SECRET}, but the mail failed`],
  ["cut JSON", `{"plaintext":"${SECRET}"`],
  ["JSON that tells it elsewhere", JSON.stringify({ error: "internal", detail: `created ${SECRET}` })],
])("a one-time secret in a refusal that is %s is in no print and no property", async (_, text) => {
  const client = wire.client({
    token: "pat_own_0123456789abcdef",
    fetch: async () => new Response(text, { status: 500 }),
  });
  const error = await rejection(client.tokens.rotate("t"));
  expect(error).toMatchObject({ kind: "server" });
  expect(inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain(SECRET);
  expect(JSON.stringify(error)).not.toContain(SECRET);
});

test("a platform code that contains the token is not shown", async () => {
  const token = "pat_own_0123456789abcdef";
  const fetch = async (): Promise<never> => {
    throw Object.assign(new Error("x"), { code: token });
  };
  const error = (await rejection(wire.client({ token, fetch }).sessions.get("s"))) as ConnectionError;
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error.message).not.toContain(token);
  expect(error.platformCode).not.toContain(token);
});

test("Response.error() is a lost connection", async () => {
  const fetch = async (): Promise<Response> => Response.error();
  const error = await rejection(wire.client({ fetch }).issues.create("p", { title: "t", type: "bug" }));
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ outcome: "unknown", attempts: 1 });
});

test.each([[new AbortController().signal], [new Map()], [new Headers()], [new Date()]])(
  "options that are %o are refused",
  async (options) => {
    const error = (await rejection(wire.client().sessions.get("s", options as never))) as AutomationError;
    expect(error).toBeInstanceOf(ArgumentError);
    expect(wire.sent).toHaveLength(0);
  },
);

test("instanceof never throws", () => {
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error("no");
      },
    },
  );
  expect(hostile instanceof ApiError).toBe(false);
});
