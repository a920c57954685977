/** A token in the place of an id: a URL would carry it to logs. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { type Client, path } from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { json } from "../../../support/replies.ts";
import { openWire, TOKEN } from "../../../support/scripted-fetch.ts";
import { expectClean } from "../../../support/sweep.ts";

const wire = openWire();
const issue = { title: "t", type: "bug" };

describe("a token in the place of an id is refused before anything is sent", () => {
  const REFUSED = "the path or the query holds a token, which URLs must not: pass the id of its record";
  const USES: Readonly<Record<string, (client: Client, secret: string) => Promise<unknown>>> = {
    "tokens.rotate": (c, secret) => c.tokens.rotate(secret),
    "tokens.rotate with adopt": (c, secret) => c.tokens.rotate(secret, { adopt: true }),
    "tokens.revoke": (c, secret) => c.tokens.revoke(secret),
    "sessions.get": (c, secret) => c.sessions.get(secret),
    "sessions.list": (c, secret) => c.sessions.list(secret).page(),
    "a cursor": (c, secret) => c.projects.list({ cursor: secret }).page(),
    "issues.create": (c, secret) => c.issues.create(secret, issue),
    "a path value": (c, secret) => c.request({ method: "GET", path: path`/a/${`Bearer ${secret}`}` }),
    "a query value": (c, secret) => c.request({ method: "GET", path: path`/a`, query: { q: secret } }),
  };

  async function expectRefused(call: Promise<unknown>, secret: string): Promise<void> {
    const error = (await rejection(call)) as Error;
    expect(error).toMatchObject({ kind: "argument", outcome: "not_sent", attempts: 0 });
    expect(error).toMatchObject({ callId: expect.stringMatching(/^call_/), path: expect.stringContaining("/") });
    expect(error.message).toContain(REFUSED);
    expectClean(error, [secret]);
  }

  // Of its prefix, with a key and a secret, and at least as long: another token of the same service.
  const LIKE_IT = "pat_otherkey_aSecretOfAnotherTokenOfIt";
  const swapped = (): Client => {
    const client = wire.client();
    client.setToken("pat_next_oneTimeSecret");
    return client;
  };

  describe.each<[string, () => Client, string]>([
    ["the client's own", () => wire.client(), TOKEN],
    ["one of the form of the client's own", () => wire.client().withOptions({ timeoutMs: 5 }), LIKE_IT],
    ["the one that the client was swapped from", swapped, TOKEN],
    ["that of a token provider, at its first call", () => wire.client({ token: async () => TOKEN }), TOKEN],
    ["one of the form of a provider's", () => wire.client({ token: () => TOKEN }), LIKE_IT],
  ])("%s", (of, make, secret) => {
    // adopt is not for token providers
    const uses = Object.entries(USES).filter(([name]) => !(of.includes("provider") && name.includes("adopt")));
    test.each(uses)("in %s", async (_, use) => {
      await expectRefused(use(make(), secret), secret);
      expect(wire.sent).toHaveLength(0);
    });
  });

  test("one that became the client's own after an attempt that may have been applied", async () => {
    const next = "pat_next_oneTimeSecret";
    const client = wire.client({ retry: { minDelayMs: 0 } });
    wire.reply(() => {
      client.setToken(next);
      return json({}, 500);
    });
    const error = await rejection(client.tokens.revoke(next));
    expect(error).toMatchObject({ kind: "argument", outcome: "unknown", attempts: 1 });
    expect(wire.sent).toHaveLength(1);
  });

  test.each<[why: string, id: string, token?: string]>([
    ["it is shorter", "pat_publickey_s3cr3tTailOfTheToke"],
    ["it has another prefix", "tok_publickey_s3cr3tTailOfTheTokenAndMore"],
    ["it has no secret", "pat_publickeyThatIsLongerThanTheWholeToken"],
    ["its secret is empty", "pat_publickeyThatIsLongerThanTheWholeToken_"],
    ["it has no key", "pat__s3cr3tTailOfTheTokenThatIsLongerThanThat"],
    ["the client's own is opaque", "pat_otherkey_aSecretOfAnotherTokenOfIt", "opaque0123456789"],
    ["the client's own has no key", "opaque_otherkey_aSecretOfAnotherTokenOfIt", "opaque_0123456789"],
  ])("an id is an id if %s", async (_, id, token = TOKEN) => {
    wire.reply(() => json({ id, state: "on" }));
    expect(await wire.client({ token }).sessions.get(id)).toMatchObject({ id });
    expect(wire.sent).toHaveLength(1);
  });

  test("a plaintext that was handed out is kept nowhere", async () => {
    const plaintext = `pat_new_${"oneTimeSecret".repeat(4)}`;
    const record = { id: "tok_2", name: "n", key_id: "k", scopes: [], expires_at: "2030-01-01T00:00:00Z" };
    wire.reply(() => json({ ...record, plaintext }, 201));
    const client = wire.client();
    const kept: WeakRef<object>[] = [];
    await (async () => {
      kept.push(new WeakRef(await client.tokens.create({ name: "n", scopes: [] })));
      kept.push(new WeakRef(await client.tokens.rotate("tok_1")));
    })();
    expectClean(client, [plaintext]);
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void; // as just exposed
    for (let round = 0; round < 5; round += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    expect(kept.map((record) => record.deref())).toEqual([undefined, undefined]);
  });
});
