/** `onRotated`: awaited before the replacement is used, bounded, repeated until it succeeds. */
import { AsyncLocalStorage } from "node:async_hooks";
import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import {
  type Client,
  type ClientOptions,
  type RotatingToken,
  type RotatingTokenOptions,
  rotatingToken,
  type StoredToken,
  TokenProviderError,
} from "../../../../src/client/index.ts";
import { allEnded, ended, fakeTime, pass } from "../../../support/fake-time.ts";
import { after, good, type Reply, status } from "../../../support/replies.ts";
import { type ScriptedFetch, scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

const OLD = "pat_k1_TheOldSecret0123";
const NEW = "pat_k2_TheNewSecret4567";
const replacement = {
  ...{ id: "t2", plaintext: NEW, expires_at: "2300-01-01T00:00:00.000Z" },
  ...{ name: "ci", key_id: "k2", scopes: [] },
};

/** Rotations succeed; other requests succeed with the replacement only. */
const service: Reply = (sent) => {
  if (sent.url.endsWith("/rotate")) return status(201, {}, JSON.stringify(replacement));
  return sent.token === NEW ? good(sent) : status(401);
};

interface Setup {
  readonly fake: ScriptedFetch;
  readonly client: Client;
  readonly token: RotatingToken;
  /** What `onRotated` was called with. */
  readonly offered: readonly StoredToken[];
}

/** A client whose token is due for rotation at once. */
function setUp(onRotated: RotatingTokenOptions["onRotated"], options: ClientOptions = {}): Setup {
  const offered: StoredToken[] = [];
  const token = rotatingToken({
    token: { id: "t1", plaintext: OLD, expires_at: new Date(Date.now() + 60_000).toISOString() },
    onRotated: (offer) => {
      offered.push(offer);
      return onRotated(offer);
    },
  });
  const fake = scriptedFetch(service);
  return { fake, token, offered, client: fake.client({ token, ...options }) };
}

const rotations = ({ sent }: ScriptedFetch): number => sent.filter(({ url }) => url.endsWith("/rotate")).length;
const never = (): Promise<void> => new Promise(() => undefined);

const NOT_STORED =
  /onRotated failed to store the replacement.*latest\(\) returns it, and the next call passes it to onRotated again(?: \(|$)/;

describe("a replacement that could not be stored", () => {
  test.each([
    ["throws", () => raise(new Error("the vault is sealed"))],
    ["rejects", () => Promise.reject(new Error("the vault is sealed"))],
  ])("fails the waiting calls if onRotated %s, and is passed to it again by the next call", async (_, failing) => {
    let store: RotatingTokenOptions["onRotated"] = failing;
    const { fake, client, token, offered } = setUp((offer) => store(offer));
    const settled = await allEnded([client.sessions.get("1"), client.sessions.get("2")]);
    const details = [
      { outcome: "not_sent", attempts: 0 }, // it began the rotation
      { outcome: "rejected", attempts: 1 }, // it was sent with the old token, and waited when that was answered 401
    ];
    for (const [index, { error }] of settled.entries()) {
      expect(error).toBeInstanceOf(TokenProviderError);
      expect(error).toMatchObject({ kind: "token_provider", ...details[index] });
      expect(error).toMatchObject({ message: expect.stringMatching(NOT_STORED) });
      expect(error).toMatchObject({ cause: { message: "the vault is sealed" } });
    }
    expect(token.latest()).toEqual(replacement);
    expect(
      fake.sent.map((sent) => sent.token),
      "nothing is sent with it",
    ).toEqual([OLD, OLD]);

    store = () => {};
    expect((await ended(client.sessions.get("1"))).error).toBeUndefined();
    expect((await ended(client.sessions.get("1"))).error).toBeUndefined();
    expect(offered.every((offer) => offer.plaintext === NEW)).toBe(true);
    expect(rotations(fake)).toBe(1);
  });

  test("is not sent either by calls that waited in the queue when the token was rotated", async () => {
    const token = rotatingToken({
      token: { id: "t1", plaintext: OLD, expires_at: new Date(Date.now() + 1_500).toISOString() },
      renewBeforeMs: 1_000,
      onRotated: never,
    });
    const fake = scriptedFetch((sent) => (sent.index === 0 ? after(5_000, good)(sent) : service(sent)));
    const client = fake.client({ token, maxConcurrency: 1 });
    const calls = [client.sessions.get("1"), client.sessions.get("2")];
    await pass(1_000);
    const errors = (await allEnded([...calls, client.sessions.get("3")])).map(({ error }) => error);
    expect(new Set(fake.sent.map((sent) => sent.token))).toEqual(new Set([OLD]));
    expect(errors).toMatchObject([undefined, { kind: "token_provider" }, { kind: "token_provider" }]);
  });

  test("is not in the error if what onRotated throws quotes it", async () => {
    const { client } = setUp(({ plaintext }) => raise(new Error(`cannot store ${plaintext}`)));
    const { error } = await ended(client.sessions.get("1"));
    expect(error).toBeInstanceOf(TokenProviderError);
    expect(inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toMatch(/TheNewSecret/);
    expect(JSON.stringify(error)).not.toMatch(/TheNewSecret/);
  });
});

describe("an onRotated that never settles", () => {
  test("fails the waiting calls after 20 seconds, and is called again by the next call", async () => {
    let store: RotatingTokenOptions["onRotated"] = never;
    const { fake, client, token, offered } = setUp((offer) => store(offer), { timeoutMs: false });
    const first = await allEnded([client.sessions.get("1"), client.sessions.get("2")]);
    for (const { error, tookMs } of first) {
      expect(error).toMatchObject({ kind: "token_provider", message: expect.stringMatching(NOT_STORED) });
      expect(error).toMatchObject({ cause: { message: "onRotated did not settle within 20 s" } });
      expect(Math.round(tookMs / 1_000)).toBe(20);
    }
    expect(token.latest()).toEqual(replacement);
    const { length } = fake.sent;
    expect((await ended(client.sessions.get("1"))).error).toBeInstanceOf(TokenProviderError);
    expect(fake.sent, "it would be sent with a token that is known to be replaced").toHaveLength(length);

    store = () => {};
    expect((await ended(client.sessions.get("1"))).error).toBeUndefined();
    expect(offered).toEqual([replacement, replacement, replacement]);
    expect(rotations(fake)).toBe(1);
  });

  test("because it waits for a call with the same token: both end after 20 seconds, and a later call succeeds", async () => {
    const inner: { kind?: unknown }[] = [];
    const calls: { client?: Client } = {};
    const { client, offered } = setUp(
      async () => {
        if (offered.length === 1) await calls.client?.sessions.get("2").catch((error: object) => inner.push(error));
      },
      { timeoutMs: false },
    );
    calls.client = client;
    expect((await ended(client.sessions.get("1"))).error).toMatchObject({ message: expect.stringMatching(NOT_STORED) });
    await pass(0);
    expect(inner).toMatchObject([{ kind: "token_provider" }]);
    expect((await ended(client.sessions.get("1"))).error).toBeUndefined();
  });

  test("counts as stored if it succeeds later", async () => {
    let succeed = (): void => {};
    const stored = new Promise<void>((resolve) => {
      succeed = resolve;
    });
    const { client, offered } = setUp(() => stored);
    expect((await ended(client.sessions.get("1"))).error).toBeInstanceOf(TokenProviderError);
    succeed();
    await pass(0);
    expect((await ended(client.sessions.get("1"))).error).toBeUndefined();
    expect(offered).toHaveLength(1);
  });

  test("holds up the call that began it, whatever its own limits; others end by theirs", async () => {
    const { client } = setUp(never);
    const controller = new AbortController();
    const settled = allEnded([
      client.sessions.get("1", { timeoutMs: 100, totalTimeoutMs: 150, signal: controller.signal }),
      client.sessions.get("2", { timeoutMs: 100 }),
      client.sessions.get("3", { signal: controller.signal }),
    ]);
    await pass(200);
    controller.abort();
    const ends = await settled;
    expect(ends.map(({ error }) => error)).toMatchObject([
      { kind: "token_provider", outcome: "not_sent" },
      { kind: "timeout", phase: "token" },
      { kind: "abort" },
    ]);
    expect(ends.map(({ tookMs }) => tookMs >= 20_000)).toEqual([true, false, false]);
    expect(Math.max(...ends.slice(1).map(({ tookMs }) => tookMs))).toBeLessThan(400);
    await pass(30_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

function raise(thrown: unknown): never {
  throw thrown;
}

test("rotating and storing run in the context in which the token was made, not in that of the call that began them", async () => {
  const transactions = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const { fake, client, token } = transactions.run("the application", () =>
    setUp(() => {
      seen.push(transactions.getStore());
    }),
  );
  const contextOf: (string | undefined)[] = [];
  const watched = client.withOptions({
    fetch: (url, init) => {
      contextOf.push(transactions.getStore());
      return fake.fetch(url, init);
    },
  });
  await ended(transactions.run("a visitor's", () => client.sessions.get("1")));
  await ended(transactions.run("a visitor's", () => watched.sessions.get("2")));
  expect(seen).toEqual(["the application"]);
  expect(contextOf).toEqual(["a visitor's"]);
  expect(token.latest().plaintext).toBe(NEW);
});
