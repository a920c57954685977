import { describe, expect, test } from "vitest";
import type { CreatedToken } from "../../../../src/client/index.ts";
import { gate, rejection } from "../../../support/promises.ts";
import { json, text } from "../../../support/replies.ts";
import { openWire, TOKEN } from "../../../support/scripted-fetch.ts";
import { expectClean } from "../../../support/sweep.ts";

const wire = openWire();
const NEXT = "pat_next_TheSecretOfTheReplacement";
const authorizations = (): (string | null)[] => wire.sent.map(({ headers }) => headers.get("authorization"));
const replacement = (plaintext: unknown = NEXT): Response =>
  json({ id: "t2", name: "n", key_id: "next", scopes: [], expires_at: "2030-01-01T00:00:00Z", plaintext }, 201);
const session = (): Response => json({ id: "s", state: "on" });

/** A service that knows one token at a time. */
function onlyAccepts(current: () => string): (seen: { headers: Headers; path: string }) => Response {
  return ({ headers, path }) => {
    if (headers.get("authorization") !== `Bearer ${current()}`) return json({ error: "unauthorized" }, 401);
    return path.includes("/issues") ? json({ number: 1, title: "t", status: "o" }, 201) : session();
  };
}

test("without adopt the client keeps its token", async () => {
  wire.script(replacement(), session());
  const client = wire.client();
  const created = await client.tokens.rotate("t1");
  expect(created.plaintext).toBe(NEXT);
  await client.sessions.get("s");
  expect(authorizations()).toEqual([`Bearer ${TOKEN}`, `Bearer ${TOKEN}`]);
});

test("with adopt it goes on with the replacement, as do clients made from it before and after", async () => {
  wire.reply(({ path }) => (path.endsWith("/rotate") ? replacement() : session()));
  const client = wire.client();
  const before = client.withOptions({ retry: false });
  const created: CreatedToken = await client.tokens.rotate("t1", { adopt: true });
  expect(created).toMatchObject({ id: "t2", plaintext: NEXT });
  for (const one of [client, before, client.withOptions({})]) await one.sessions.get("s");
  expect(authorizations().slice(1)).toEqual(Array(3).fill(`Bearer ${NEXT}`));
});

describe("a token that is replaced again before the call is sent with it", () => {
  const TOKENS = [TOKEN, "pat_first_TheSecretOfTheFirst", "pat_second_TheSecretOfTheSecond"];
  const issue = { title: "t", type: "bug" };

  test.each(["it has been replaced", "the rotation is under way"])("when the second 401 comes, %s", async (when) => {
    let rotations = 0;
    let current = 0;
    const accepts = onlyAccepts(() => TOKENS[current] ?? "");
    const refused = gate();
    const rotate = (): Promise<CreatedToken> => client.tokens.rotate("t1", { adopt: true });
    const pending: Promise<unknown>[] = [];
    wire.reply(async (seen) => {
      if (seen.path.endsWith("/rotate")) {
        rotations += 1;
        current = rotations;
        if (rotations === 2 && when === "the rotation is under way") await refused.opened;
        return replacement(TOKENS[current]);
      }
      const rotation = current < 2 ? rotate() : undefined;
      if (rotation !== undefined) pending.push(rotation);
      if (current === 1 && when === "the rotation is under way") {
        while (rotations < 2) await new Promise((resolve) => setImmediate(resolve));
        setImmediate(() => refused.open());
      } else await rotation;
      return accepts(seen);
    });
    const client = wire.client();
    expect(await client.issues.create("p", issue)).toMatchObject({ number: 1 });
    await Promise.all(pending);
    const sent = wire.sent.filter(({ path }) => path.endsWith("/issues")).map(({ headers }) => headers);
    expect(sent.map((headers) => headers.get("authorization"))).toEqual(TOKENS.map((token) => `Bearer ${token}`));
  });
});

test("a rotation that fails changes nothing, and the calls that waited for it reject with their 401", async () => {
  const arrived = gate();
  const go = gate();
  wire.reply(async ({ path }) => {
    if (!path.endsWith("/rotate")) return json({ error: "unauthorized" }, 401);
    arrived.open();
    await go.opened;
    return json({ error: "conflict" }, 409);
  });
  const client = wire.client();
  const rotation = rejection(client.tokens.rotate("t1", { adopt: true }));
  await arrived.opened;
  const call = rejection(client.sessions.get("s"));
  while (wire.sent.length < 2) await new Promise((resolve) => setImmediate(resolve));
  go.open();
  expect(await rotation).toMatchObject({ kind: "conflict" });
  expect(await call).toMatchObject({ kind: "auth", attempts: 1 });
  expect(wire.sent).toHaveLength(2);
});

test("a waiting call can be aborted while the rotation goes on", async () => {
  const go = gate();
  wire.reply(async ({ path }) => {
    if (!path.endsWith("/rotate")) return json({}, 401);
    await go.opened;
    return replacement();
  });
  const client = wire.client();
  const rotation = client.tokens.rotate("t1", { adopt: true });
  const controller = new AbortController();
  const call = rejection(client.sessions.get("s", { signal: controller.signal }));
  while (wire.sent.length < 2) await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  expect(await call).toMatchObject({ kind: "abort" });
  go.open();
  expect(await rotation).toMatchObject({ plaintext: NEXT });
});

describe("an invalid response to a rotation", () => {
  test("with a plaintext: the token is adopted, and the call rejects", async () => {
    wire.script(json({ id: 5, plaintext: NEXT }, 201), session());
    const client = wire.client();
    const error = await rejection(client.tokens.rotate("t1", { adopt: true }));
    expect(error).toMatchObject({
      kind: "validation",
      outcome: "accepted",
      rawBody: JSON.stringify({ id: 5, plaintext: NEXT }),
    });
    expectClean(error, [NEXT, TOKEN], ["rawBody"]);
    await client.sessions.get("s");
    expect(authorizations()[1]).toBe(`Bearer ${NEXT}`);
  });

  test("cut off behind the plaintext: it is adopted, and the call rejects", async () => {
    const torn = `{"id":"t2","plaintext":"${NEXT}"`;
    wire.script(text(torn, 201), session());
    const client = wire.client();
    const error = await rejection(client.tokens.rotate("t1", { adopt: true }));
    expect(error).toMatchObject({ outcome: "accepted", rawBody: torn });
    await client.sessions.get("s");
    expect(authorizations()[1]).toBe(`Bearer ${NEXT}`);
  });

  test.each(["with space", "é"])(
    "with a plaintext that is not a valid token (%j): the call rejects with all its fields, and the old token is kept",
    async (bad) => {
      wire.script(replacement(bad), session());
      const client = wire.client();
      const error = await rejection(client.tokens.rotate("t1", { adopt: true }));
      expect(error).toMatchObject({
        kind: "validation",
        outcome: "accepted",
        status: 201,
        method: "POST",
        path: "/me/tokens/{id}/rotate",
        attempts: 1,
      });
      expect((error as { rawBody?: string }).rawBody).toContain(JSON.stringify(bad).slice(1, -1));
      await client.sessions.get("s");
      expect(authorizations()[1]).toBe(`Bearer ${TOKEN}`);
    },
  );

  test("not JSON: the error says that the old token may be dead, and keeps the text", async () => {
    wire.script(text(`<html>${NEXT}`, 201));
    const error = await rejection(wire.client().tokens.rotate("t1", { adopt: true }));
    expect(error).toMatchObject({ kind: "parse", outcome: "unknown", rawBody: `<html>${NEXT}` });
    expect((error as Error).message).toContain("the old token may be dead");
    expectClean(error, [NEXT], ["rawBody"]);
  });
});

describe("a token that is swapped while its rotation is under way stays:", () => {
  test.each<[string, () => Response]>([
    ["the rotation succeeds", () => replacement()],
    [
      "the response of the rotation is cut behind the plaintext",
      () => text(`{"id":"t2","plaintext":"${NEXT}","na`, 201),
    ],
  ])("%s", async (_, answer) => {
    const arrived = gate();
    const go = gate();
    wire.reply(async ({ path }) => {
      if (!path.endsWith("/rotate")) return session();
      arrived.open();
      await go.opened;
      return answer();
    });
    const client = wire.client();
    const rotation = client.tokens.rotate("t1", { adopt: true }).catch((error: unknown) => error);
    await arrived.opened;
    client.setToken("pat_beta_AnotherAccount");
    go.open();
    await rotation;
    await client.sessions.get("s");
    expect(authorizations().at(-1)).toBe("Bearer pat_beta_AnotherAccount");
  });
});
