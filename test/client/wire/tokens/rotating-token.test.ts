/** A token that rotates itself, against a service with state. */
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  Client,
  type CreatedToken,
  type RotatingTokenOptions,
  rotatingToken,
  type StoredToken,
  TokenProviderError,
} from "../../../../src/client/index.ts";
import { createEmulator, type Emulator } from "../../../../src/testing/index.ts";
import { bodyThat, good, status } from "../../../support/replies.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const NOW = Date.UTC(2030, 0, 1);

let emulator: Emulator;
/** How far the service's clock is ahead of the client's. */
let serviceAheadMs: number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "performance"], now: NOW });
  serviceAheadMs = 0;
  emulator = createEmulator({ rateLimit: false, now: () => Date.now() + serviceAheadMs });
});
afterEach(() => void vi.useRealTimers());

function setClockAhead(ms: number): void {
  serviceAheadMs -= ms;
  vi.setSystemTime(Date.now() + ms);
}

/** A client whose token expires in `days`, and what it stores. */
function rotating(days: number, options: Partial<RotatingTokenOptions> & { maxConcurrency?: number } = {}) {
  const { maxConcurrency, ...rest } = options;
  const { id, plaintext, expires_at } = emulator.createToken({ scopes: ["projects:read"], expires_in_days: days });
  const created = { id, plaintext, expires_at };
  const stored: StoredToken[] = [];
  const token = rotatingToken({
    token: created,
    onRotated: (replacement) => void stored.push(replacement),
    ...rest,
  });
  const client = new Client({
    baseUrl: emulator.baseUrl,
    token,
    fetch: emulator.fetch,
    maxConcurrency,
    retry: { minDelayMs: 1, maxDelayMs: 1 },
  });
  const read = () => client.projects.list().toArray({ max: 1 });
  const failingRead = (): Promise<unknown> =>
    read().then(
      () => undefined,
      (error: unknown) => error,
    );
  return { client, token, stored, id: created.id, plaintext: created.plaintext, read, failingRead };
}

const operations = () => emulator.requests.map(({ operation }) => operation);
const rotations = () => operations().filter((operation) => operation === "tokens.rotate").length;

/** A token record of which only the end is missing. */
const WITHOUT_END = '{"id":"t2","plaintext":"pat_k2_secret"';

/** Lets the service respond to rotations without performing them. */
const failRotations = (status: number) => emulator.fault({ operation: "tokens.rotate", status, times: Infinity });

describe("a rotating token", () => {
  test("is not rotated before it is due", async () => {
    const { read, token, plaintext } = rotating(30);
    await read();
    expect(operations()).toEqual(["projects.list"]);
    expect(token.latest().plaintext).toBe(plaintext);
  });

  test("is rotated once for many concurrent calls, and stored before the replacement is first used", async () => {
    const usedWhenStored: unknown[] = [];
    const { client, token, id, plaintext } = rotating(1, {
      onRotated: async () => {
        await Promise.resolve();
        usedWhenStored.push(
          emulator.requests.filter(({ operation, status }) => operation !== "tokens.rotate" && status === 200),
        );
      },
    });
    const results = await Promise.all(Array.from({ length: 20 }, () => client.projects.list().toArray({ max: 1 })));
    expect(results).toHaveLength(20);
    expect(rotations()).toBe(1);
    expect(usedWhenStored).toEqual([[]]);
    expect(token.latest().plaintext).not.toBe(plaintext);
    expect(emulator.tokens.get(id)?.state).toBe("revoked");
    // One call began the rotation. The others were sent with the old token, and once more after their 401.
    const answers = emulator.requests.slice(1).map(({ status }) => status);
    expect(answers.filter((status) => status === 200)).toHaveLength(20);
    expect(answers.filter((status) => status === 401).length).toBeLessThanOrEqual(19);
  });

  test("does not deadlock if only one request may be in flight", async () => {
    const { client } = rotating(1, { maxConcurrency: 1 });
    await Promise.all([client.projects.list().toArray(), client.projects.list().toArray()]);
    expect(operations().filter((operation) => operation === "tokens.rotate")).toHaveLength(1);
  });

  test("accepts, stores and returns one shape", async () => {
    const { read, stored, token, id, plaintext } = rotating(4, { renewBeforeMs: 4 * DAY_MS });
    expect(token.latest()).toEqual({ id, plaintext, expires_at: new Date(NOW + 4 * DAY_MS).toISOString() });
    await read();
    expect(stored).toEqual([token.latest()]);
    const successor = rotatingToken({ token: token.latest(), onRotated: () => expect.fail("it is not due") });
    const next = new Client({ baseUrl: emulator.baseUrl, fetch: emulator.fetch, token: successor });
    await expect(next.projects.list().toArray()).resolves.toHaveLength(3);
  });

  test("hands out the whole record, as it was passed and as the service sent it", async () => {
    const created = emulator.createToken({ name: "nightly", scopes: ["projects:read"], expires_in_days: 1 });
    emulator.fault({
      operation: "tokens.rotate",
      transform: (body) => ({ ...(body as Record<string, unknown>), owner: { id: "u1" } }), // a token record
    });
    const stored: (StoredToken & Partial<CreatedToken>)[] = [];
    const token = rotatingToken({ token: created, onRotated: (replacement) => void stored.push(replacement) });
    expect(token.latest()).toEqual(created);
    await new Client({ ...emulator.clientOptions, token }).projects.list().toArray();
    expect(stored).toEqual([
      {
        ...{ id: expect.any(String), plaintext: expect.any(String), expires_at: expect.any(String) },
        ...{ name: "nightly", key_id: expect.any(String), scopes: ["projects:read"], owner: { id: "u1" } },
      },
    ]);
    expect(token.latest()).toEqual(stored[0]);
    expect(stored[0]?.key_id).not.toBe(created.key_id);
  });

  test("is rotated again when the replacement is due by its own id and expiry", async () => {
    const { read, stored, token } = rotating(2);
    await read();
    expect(stored).toHaveLength(0);
    vi.advanceTimersByTime(1.5 * DAY_MS);
    await read();
    expect(stored).toHaveLength(1);
    expect(token.latest().id).toBe(stored[0]?.id);
    vi.advanceTimersByTime(Date.parse(token.latest().expires_at) - NOW - 2.5 * DAY_MS);
    await read();
    expect(new Set(stored.map(({ id }) => id)).size).toBe(2);
  });

  test("is not affected by later changes of what was passed and returned", async () => {
    const { id, plaintext, expires_at } = emulator.createToken({ scopes: ["projects:read"], expires_in_days: 30 });
    const record = { id, plaintext, expires_at };
    const options = { token: record, onRotated: () => {} };
    const token = rotatingToken(options);
    record.plaintext = "changed";
    options.token = { ...record, id: "changed" };
    token.latest().plaintext = "changed";
    expect(token.latest()).toEqual({ id, plaintext, expires_at });
  });

  test("cannot be replaced by setToken or adopt", async () => {
    const { client, id } = rotating(30);
    expect(() => client.setToken("another")).toThrow(/rotating token/);
    await expect(client.tokens.rotate(id, { adopt: true })).rejects.toThrow(/adopt/);
    expect(rotations()).toBe(0);
  });
});

describe("twenty calls, one after another, send one rotation", () => {
  const readTwenty = async (read: () => Promise<unknown>): Promise<void> => {
    for (let call = 0; call < 20; call += 1) await read();
  };

  test("if the service refuses the rotation of an expired token", async () => {
    const { failingRead } = rotating(1);
    vi.advanceTimersByTime(DAY_MS);
    // The service says of each call that the token is dead, and nothing else does.
    for (let call = 0; call < 20; call += 1) {
      expect(await failingRead()).toMatchObject({ kind: "auth", status: 401, outcome: "rejected" });
    }
    expect(operations()).toEqual(["tokens.rotate", ...Array<string>(20).fill("projects.list")]);
  });

  test("if the service refuses the rotation of a token that is still valid", async () => {
    const { read } = rotating(1);
    failRotations(403);
    await readTwenty(read);
    expect(rotations()).toBe(1);
  });

  test("says nothing about the token if it is a page, which a proxy has sent: calls go on with the old one", async () => {
    const { read, plaintext, token } = rotating(2, { renewBeforeMs: 2 * DAY_MS });
    emulator.fault({ operation: "tokens.rotate", status: 200, body: "<html>maintenance</html>" });
    await read();
    expect([token.latest().plaintext, rotations()]).toEqual([plaintext, 1]);
  });
});

describe("after a failed rotation", () => {
  test("calls are sent with the old token, and the rotation is tried again after a minute", async () => {
    const failures: unknown[] = [];
    const { read, token, plaintext } = rotating(1, { onRotationFailed: (error) => failures.push(error) });
    const fault = failRotations(403);
    await read();
    await read();
    expect(failures).toMatchObject([{ kind: "permission" }]);
    expect(operations()).toEqual(["tokens.rotate", "projects.list", "projects.list"]);
    fault.remove();
    vi.advanceTimersByTime(MINUTE_MS);
    await read();
    expect(operations().slice(3)).toEqual(["tokens.rotate", "projects.list"]);
    expect(token.latest().plaintext).not.toBe(plaintext);
  });

  test("a token that has expired by the local clock, and whose rotation is refused, is still sent", async () => {
    const { plaintext, read, token } = rotating(30);
    setClockAhead(31 * DAY_MS);
    failRotations(401);
    for (let call = 0; call < 3; call += 1) await read();
    expect(operations()).toEqual(["tokens.rotate", ...Array<string>(3).fill("projects.list")]);
    expect(token.latest().plaintext).toBe(plaintext);
  });

  test("a listener that fails does not fail the call", async () => {
    const failing: readonly (() => void)[] = [
      () => {
        throw new Error("listener");
      },
      () => Promise.reject(new Error("listener")), // unhandled, it would fail the run
    ];
    for (const onRotationFailed of failing) {
      const { read } = rotating(1, { onRotationFailed });
      const fault = emulator.fault({ operation: "tokens.rotate", status: 403 });
      await read();
      expect(fault.hits).toBe(1);
    }
  });
});

describe("a response to the rotation that is not valid", () => {
  test("is used and stored as far as it is usable", async () => {
    const failures: unknown[] = [];
    const { read, token, stored, id, plaintext } = rotating(1, { onRotationFailed: (error) => failures.push(error) });
    const { expires_at } = token.latest();
    emulator.fault({
      operation: "tokens.rotate",
      times: 1,
      transform: (body) => ({ ...(body as Record<string, unknown>), expires_at: "never" }), // a token record
    });
    await read();
    expect(failures).toMatchObject([{ kind: "validation" }]);
    expect(emulator.requests.at(-1)?.status).toBe(200);
    expect(stored).toEqual([token.latest()]);
    expect(stored[0]).toMatchObject({ expires_at });
    expect(stored[0]?.id).not.toBe(id);
    expect(stored[0]?.plaintext).not.toBe(plaintext);
    expect(emulator.tokens.get(stored[0]?.id ?? "")?.state).toBe("active");
  });

  test.each([
    ["the connection breaks", bodyThat("breaks", WITHOUT_END, 201)],
    ["the body just ends", () => status(201, {}, WITHOUT_END)],
  ])("is used and stored if it is cut off behind the plaintext: %s", async (_, reply) => {
    vi.useRealTimers();
    const stored: StoredToken[] = [];
    const token = rotatingToken({
      token: { id: "t1", plaintext: "pat_k1_secret", expires_at: "2020-01-01T00:00:00Z" },
      onRotated: (replacement) => void stored.push(replacement),
    });
    const fake = scriptedFetch(reply, good);
    await fake.client({ token }).sessions.get("s");
    expect(stored).toEqual([{ id: "t2", plaintext: "pat_k2_secret", expires_at: "2020-01-01T00:00:00Z" }]);
    expect(fake.sent.map(({ token: sent }) => sent)).toEqual(["pat_k1_secret", "pat_k2_secret"]);
  });

  test("fails the waiting calls with its text if it has no usable token, since the old one is revoked", async () => {
    const { failingRead } = rotating(2, { renewBeforeMs: 2 * DAY_MS });
    emulator.fault({ operation: "tokens.rotate", transform: () => '{"note":"the token was here"}' });
    for (const error of [await failingRead(), await failingRead()]) {
      expect(error).toBeInstanceOf(TokenProviderError);
      expect(error).toMatchObject({ outcome: "not_sent", cause: { outcome: "accepted" } });
      expect(error).toMatchObject({ message: expect.stringContaining("cause.rawBody may hold its replacement (") });
      const { cause } = error as { cause: { rawBody?: string } }; // as just claimed
      expect(cause.rawBody).toContain("the token was here");
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("the token was here");
    }
    expect(rotations()).toBe(1);
  });
});
