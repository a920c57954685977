import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  Client,
  type CreatedToken,
  type RotatingTokenOptions,
  rotatingToken,
  TokenProviderError,
} from "../../../src/index.ts";
import { createEmulator, type Emulator } from "../../../src/testing/index.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = Date.UTC(2030, 0, 1);

let emulator: Emulator;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
  emulator = createEmulator({ rateLimit: false });
});
afterEach(() => void vi.useRealTimers());

/** A client whose token expires in `days`, and what it stores. */
function renewing(days: number, options: Partial<RotatingTokenOptions> & { maxConcurrency?: number } = {}) {
  const { maxConcurrency, ...rest } = options;
  const { id, plaintext, expires_at } = emulator.createToken({
    scopes: ["projects:read"],
    expires_in_days: days,
  });
  const stored: CreatedToken[] = [];
  const token = rotatingToken({
    id,
    token: plaintext,
    expiresAt: expires_at,
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
  return { client, token, stored, id, plaintext, read: () => client.projects.list().toArray({ max: 1 }) };
}

const operations = () => emulator.requests.map(({ operation }) => operation);

describe("a token that renews itself", () => {
  test("is left alone while it is not due", async () => {
    const { read, token, plaintext } = renewing(30);
    await read();
    expect(operations()).toEqual(["projects.list"]);
    expect(token.latest().token).toBe(plaintext);
  });

  test("is rotated once, however many calls ask, and stored before its first use", async () => {
    const seenWhenStored: number[] = [];
    const { client, token, id, plaintext } = renewing(1, {
      onRotated: async () => {
        await Promise.resolve();
        seenWhenStored.push(emulator.requests.length);
      },
    });
    const results = await Promise.all(Array.from({ length: 20 }, () => client.projects.list().toArray({ max: 1 })));
    expect(results).toHaveLength(20);
    expect(operations()).toEqual(["tokens.rotate", ...Array.from({ length: 20 }, () => "projects.list")]);
    expect(seenWhenStored).toEqual([1]);
    expect(token.latest().token).not.toBe(plaintext);
    expect(emulator.tokens.get(id)?.state).toBe("revoked");
  });

  test("holds nobody up where only one request may be in flight", async () => {
    const { client } = renewing(1, { maxConcurrency: 1 });
    await Promise.all([client.projects.list().toArray(), client.projects.list().toArray()]);
    expect(operations()).toEqual(["tokens.rotate", "projects.list", "projects.list"]);
  });

  test("counts from the replacement's own id and expiry", async () => {
    const { read, stored, token } = renewing(2, { renewBeforeMs: DAY_MS });
    await read();
    expect(stored).toHaveLength(0);
    vi.setSystemTime(NOW + 1.5 * DAY_MS);
    await read();
    expect(stored).toHaveLength(1);
    expect(token.latest().id).toBe(stored[0]?.id);
    vi.setSystemTime(token.latest().expiresAt.getTime() - DAY_MS);
    await read();
    expect(stored).toHaveLength(2);
    expect(new Set(stored.map(({ id }) => id)).size).toBe(2);
  });

  test("is kept when it cannot be stored, and offered again at the next use", async () => {
    let isDown = true;
    const offered: string[] = [];
    const { read, token, plaintext } = renewing(1, {
      onRotated: ({ plaintext: replacement }) => {
        offered.push(replacement);
        if (isDown) throw new Error("the vault is sealed");
      },
    });
    const error: unknown = await read().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TokenProviderError);
    expect(error).toMatchObject({ outcome: "not_sent", cause: { message: "the vault is sealed" } });
    expect(token.latest().token).not.toBe(plaintext);
    isDown = false;
    await read();
    expect(offered).toEqual([token.latest().token, token.latest().token]);
    expect(operations()).toEqual(["tokens.rotate", "projects.list"]);
  });

  test("is not in the error when what stores it quotes it", async () => {
    const { read, token } = renewing(1, {
      onRotated: ({ plaintext }) => {
        throw new Error(`cannot store ${plaintext}`);
      },
    });
    const error: unknown = await read().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TokenProviderError);
    expect(inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain(token.latest().token);
    expect(JSON.stringify(error)).not.toContain(token.latest().token);
  });

  test("goes on with the old one when the rotation fails and that is still good", async () => {
    const failures: unknown[] = [];
    const { read, token, plaintext } = renewing(1, { onRotationFailed: (error) => failures.push(error) });
    const fault = emulator.fault({ operation: "tokens.rotate", status: 403, body: { error: "forbidden" } });
    await read();
    await read();
    expect(failures).toMatchObject([{ kind: "permission" }]);
    expect(operations()).toEqual(["tokens.rotate", "projects.list", "projects.list"]);
    fault.remove();
    vi.setSystemTime(NOW + 60_000);
    await read();
    expect(operations().slice(3)).toEqual(["tokens.rotate", "projects.list"]);
    expect(token.latest().token).not.toBe(plaintext);
  });

  test("goes on with the old one when the listener that is told of the failure fails, too", async () => {
    const troubles: readonly (() => void)[] = [
      () => {
        throw new Error("listener");
      },
      () => Promise.reject(new Error("listener")), // unhandled, it would fail the run
    ];
    for (const onRotationFailed of troubles) {
      const { read } = renewing(1, { onRotationFailed });
      const fault = emulator.fault({ operation: "tokens.rotate", status: 403 });
      await read();
      expect(fault.hits).toBe(1);
    }
  });

  test("fails the call when the rotation fails and it has expired", async () => {
    const { read } = renewing(1);
    vi.setSystemTime(NOW + DAY_MS);
    const error: unknown = await read().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TokenProviderError);
    expect(error).toMatchObject({ cause: { kind: "auth" } });
    expect(operations()).toEqual(["tokens.rotate"]);
  });

  test("uses a replacement that came in an answer which was otherwise not as expected", async () => {
    const failures: unknown[] = [];
    const { read, token } = renewing(1, { onRotationFailed: (error) => failures.push(error) });
    emulator.fault({
      operation: "tokens.rotate",
      times: 1,
      transform: (body) => ({ ...(body as Record<string, unknown>), expires_at: "never" }),
    });
    await read();
    expect(failures).toMatchObject([{ kind: "validation" }]);
    expect(emulator.requests.at(-1)?.status).toBe(200);
    expect(
      emulator.tokens.list().some(({ state, key_id }) => state === "active" && token.latest().token.includes(key_id)),
    ).toBe(true);
  });

  test("may be shared by clients", async () => {
    const { client, token } = renewing(1);
    const other = new Client({ baseUrl: emulator.baseUrl, token, fetch: emulator.fetch });
    await Promise.all([client.projects.list().toArray(), other.projects.list().toArray()]);
    expect(operations().filter((operation) => operation === "tokens.rotate")).toHaveLength(1);
  });

  test.each([
    ["token", { token: "Bearer abc" }],
    ["id", { id: "" }],
    ["expiresAt", { expiresAt: "soon" }],
    ["renewBeforeMs", { renewBeforeMs: Number.NaN }],
  ])("is refused with a %s that cannot be", (name, options) => {
    expect(() => renewing(1, options)).toThrow(new RegExp(`rotatingToken: ${name}`));
  });

  test("decides the token alone", async () => {
    const { client, id } = renewing(30);
    expect(() => client.setToken("another")).toThrow(/rotating token/);
    await expect(client.tokens.rotate(id, { adopt: true })).rejects.toThrow(/adopt/);
  });
});
