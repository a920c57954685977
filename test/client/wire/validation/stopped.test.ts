/** A call that ends while the caller's own schema is at work, after a whole response. */
import { describe, expect, test } from "vitest";
import { type CallOptions, type Client, path } from "../../../../src/client/index.ts";
import type { StandardSchema } from "../../../../src/core/call/standard-schema.ts";
import { rejection } from "../../../support/promises.ts";
import { json } from "../../../support/replies.ts";
import { openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire();
const CREATED = { id: "t", plaintext: "pat_new_shownOnceAndNeverAgain" };

function schemaOf(validate: StandardSchema["~standard"]["validate"]): StandardSchema {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

const post = (client: Client, schema: StandardSchema, options: CallOptions): Promise<unknown> =>
  client.request({ method: "POST", path: path`/me/tokens`, json: { name: "n" }, schema }, options);

describe("an async schema of the caller's, after a whole response to a write", () => {
  test.each<[string, (controller: AbortController) => StandardSchema["~standard"]["validate"]]>([
    [
      "hangs",
      (controller) => () => {
        controller.abort("enough");
        return new Promise(() => undefined);
      },
    ],
    [
      "rejects with the reason of the signal",
      (controller) => async () => {
        controller.abort("enough");
        throw controller.signal.reason;
      },
    ],
    [
      "aborts later",
      (controller) => async (value) => {
        await Promise.resolve();
        controller.abort("enough");
        await new Promise((resolve) => setImmediate(resolve));
        return { value };
      },
    ],
  ])("that %s: the abort says that the write was accepted, and the response is not lost", async (_, make) => {
    wire.script(json(CREATED, 201));
    const controller = new AbortController();
    const schema = schemaOf(make(controller));
    const error = await rejection(post(wire.client(), schema, { signal: controller.signal }));
    expect(error).toMatchObject({ kind: "abort", cause: "enough", outcome: "accepted", status: 201, attempts: 1 });
    expect(error).toMatchObject({ rawBody: JSON.stringify(CREATED) });
    expect((error as Error).message).toContain("the service accepted it: do not send it again (see rawBody)");
    expect(JSON.stringify(error)).not.toContain(CREATED.plaintext);
  });

  test("that outlasts totalTimeoutMs: the same", async () => {
    wire.script(json(CREATED, 201));
    const schema = schemaOf(() => new Promise(() => undefined));
    const error = await rejection(post(wire.client(), schema, { totalTimeoutMs: 200 }));
    expect(error).toMatchObject({ kind: "timeout", phase: "body", outcome: "accepted" });
    expect(error).toMatchObject({ rawBody: JSON.stringify(CREATED) });
  });

  test("that is done before the abort: the output is returned", async () => {
    wire.script(json(CREATED, 201));
    const controller = new AbortController();
    const schema = schemaOf((value) => {
      controller.abort("too late");
      return { value };
    });
    expect(await post(wire.client(), schema, { signal: controller.signal })).toEqual(CREATED);
  });
});
