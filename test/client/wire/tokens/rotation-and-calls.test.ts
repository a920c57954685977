/** A rotation and the calls around it: who waits for it, for how long, and with which token the others are sent. */
import { describe, expect, test, vi } from "vitest";
import {
  type Client,
  type ClientOptions,
  type CreatedToken,
  type RotatingToken,
  type RotatingTokenOptions,
  rotatingToken,
} from "../../../../src/client/index.ts";
import { allEnded, ended, fakeTime, finish, pass, watch } from "../../../support/fake-time.ts";
import { after, failsWith, good, never, type Reply, responds, status } from "../../../support/replies.ts";
import { type ScriptedFetch, scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

const OLD = "pat_k1_TheOldSecret0123";
const NEW = "pat_k2_TheNewSecret4567";

function record(plaintext: string): string {
  const fields = { id: "t2", name: "ci", key_id: "k2", scopes: [], expires_at: "2300-01-01T00:00:00.000Z" };
  return JSON.stringify({ ...fields, plaintext });
}

const rotated = (plaintext = NEW): Reply => responds(201, {}, record(plaintext));
const isRotation = ({ url }: { readonly url: string }): boolean => url.endsWith("/rotate");

interface Setup {
  readonly fake: ScriptedFetch;
  readonly client: Client;
  readonly token: RotatingToken;
  readonly stored: string[];
}

/** A rotating token that is due at once; `rotate` answers its rotation, `serve` all else. */
function setUp(rotate: Reply, serve: Reply, options: ClientOptions & Partial<RotatingTokenOptions> = {}): Setup {
  const { onRotated, onRotationFailed, ...others } = options;
  const stored: string[] = [];
  const token = rotatingToken({
    token: { id: "t1", plaintext: OLD, expires_at: new Date(Date.now() + 3_600_000).toISOString() },
    onRotated: async (replacement) => {
      await onRotated?.(replacement);
      stored.push(replacement.plaintext);
    },
    onRotationFailed,
  });
  const fake = scriptedFetch((sent) => (isRotation(sent) ? rotate(sent) : serve(sent)));
  return { fake, token, stored, client: fake.client({ token, ...others }) };
}

describe("the call that begins a rotation", () => {
  test.each<[string, (signal: AbortSignal) => object, object]>([
    ["its totalTimeoutMs", () => ({ totalTimeoutMs: 1_000 }), { kind: "timeout", phase: "token" }],
    ["its signal", (signal) => ({ signal }), { kind: "abort" }],
  ])("settles after it was stored, whatever %s says", async (_, limits, expected) => {
    const { client, stored } = setUp(after(2_500, rotated()), good);
    const controller = new AbortController();
    const done = watch([client.sessions.get("1", limits(controller.signal))]);
    await pass(1_000);
    controller.abort();
    const [first] = await finish(done);
    expect(first?.error).toMatchObject({ ...expected, outcome: "not_sent", attempts: 0 });
    expect(first?.tookMs).toBeGreaterThanOrEqual(2_500);
    expect(stored).toEqual([NEW]);
  });

  test("is sent with the replacement, whatever its timeoutMs says", async () => {
    const { client, fake, stored } = setUp(after(2_500, rotated()), good);
    expect((await ended(client.sessions.get("1", { timeoutMs: 500 }))).error).toBeUndefined();
    expect(stored).toEqual([NEW]);
    expect(fake.sent.map(({ token }) => token)).toEqual([OLD, NEW]);
  });

  test("settles after it has failed, and is sent with the old token", async () => {
    const failures: unknown[] = [];
    const refuse = after(2_500, responds(403));
    const { client, fake } = setUp(refuse, good, { onRotationFailed: (error) => failures.push(error) });
    const { error, tookMs } = await ended(client.sessions.get("1", { timeoutMs: 500 }));
    expect(error).toBeUndefined();
    expect(tookMs).toBeGreaterThanOrEqual(2_500);
    expect(failures).toMatchObject([{ kind: "permission" }]);
    expect(fake.sent.map(({ token }) => token)).toEqual([OLD, OLD]);
  });
});

describe("other calls", () => {
  test("do not wait: they are sent with the old token", async () => {
    const { client, fake } = setUp(after(2_500, rotated()), good);
    const [first, ...others] = await allEnded(["1", "2", "3"].map((id) => client.sessions.get(id)));
    expect(first?.tookMs).toBeGreaterThanOrEqual(2_500);
    for (const { error, tookMs } of others) {
      expect(error).toBeUndefined();
      expect(tookMs).toBeLessThan(100);
    }
    expect(fake.sent.map(({ token }) => token)).toEqual([OLD, OLD, OLD, NEW]);
  });

  test.each(["sessions.get", "issues.create"])(
    "that are answered 401 wait and are sent once more: %s",
    async (name) => {
      const accepted: Reply = (sent) => (sent.token === NEW ? good(sent) : status(401));
      const { client, fake } = setUp(after(2_500, rotated()), accepted);
      const first = client.sessions.get("1");
      const other =
        name === "sessions.get" ? client.sessions.get("2") : client.issues.create("web", { title: "t", type: "bug" });
      for (const { error, tookMs } of await allEnded<unknown>([first, other])) {
        expect(error).toBeUndefined();
        expect(tookMs).toBeGreaterThanOrEqual(2_500);
      }
      expect(fake.sent.map(({ token }) => token)).toEqual([OLD, OLD, NEW, NEW]);
    },
  );

  test("wait for the storing of a replacement, and are never sent with one that was not stored", async () => {
    const { client, fake } = setUp(rotated(), good, { onRotated: () => new Promise((r) => setTimeout(r, 3_000)) });
    const first = watch([client.sessions.get("1")]);
    await pass(1_000);
    const second = watch([client.sessions.get("2")]);
    await pass(1_900);
    expect(fake.sent.map(({ token }) => token)).toEqual([OLD]);
    await finish(Promise.all([first, second]));
    expect(fake.sent.map(({ token }) => token)).toEqual([OLD, NEW, NEW]);
  });
});

test("a rotation that hangs ends after 30 s where timeoutMs is false, calls go on, and it is tried a minute later", async () => {
  const failures: unknown[] = [];
  const { client, fake } = setUp(never, good, { timeoutMs: false, onRotationFailed: (error) => failures.push(error) });
  const { error, tookMs } = await ended(client.sessions.get("1"));
  expect(error).toBeUndefined();
  expect(Math.round(tookMs / 1_000)).toBe(30);
  expect(failures).toMatchObject([{ kind: "timeout" }]);
  const rotations = (): number => fake.sent.filter(isRotation).length;
  await pass(59_000);
  expect((await ended(client.sessions.get("2"))).tookMs).toBeLessThan(100);
  expect(rotations()).toBe(1);
  await pass(1_001);
  expect((await ended(client.sessions.get("3"))).error).toBeUndefined();
  expect(rotations()).toBe(2);
});

describe("settled()", () => {
  test("resolves at once when nothing is under way", async () => {
    const { token } = setUp(rotated(), good);
    await token.settled();
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each<[string, Reply, () => Promise<void>, number]>([
    ["a rotation that succeeds", after(2_000, rotated()), async () => undefined, 2_000],
    ["a rotation that fails", after(2_000, responds(500)), async () => undefined, 2_000],
    ["a replacement that is stored", rotated(), () => new Promise((r) => setTimeout(r, 3_000)), 3_000],
    ["a replacement that cannot be stored", rotated(), () => Promise.reject(new Error("no")), 0],
    ["an onRotated that hangs", rotated(), () => new Promise(() => undefined), 20_000],
  ])("resolves after %s", async (...[, rotate, onRotated, takesMs]) => {
    const { token, client } = setUp(rotate, good, { onRotated });
    const call = watch([client.sessions.get("1")]);
    const settled = watch([token.settled()]);
    const [end] = await finish(settled);
    expect(end?.error).toBeUndefined();
    expect(end?.tookMs).toBeGreaterThanOrEqual(takesMs);
    expect(end?.tookMs).toBeLessThan(takesMs + 100);
    await finish(call);
  });
});

describe("a rotation that is adopted", () => {
  const adopt = (client: Client): Promise<CreatedToken> => client.tokens.rotate("t1", { adopt: true });

  test("calls that are answered 401 under way wait and are sent once more, a POST too", async () => {
    const serve: Reply = (sent) => (sent.token === NEW ? good(sent) : status(401));
    const fake = scriptedFetch((sent) => (isRotation(sent) ? after(1_000, rotated())(sent) : serve(sent)));
    const client = fake.client({ token: OLD });
    const calls = [adopt(client), client.sessions.get("1"), client.issues.create("web", { title: "t", type: "bug" })];
    expect((await allEnded<unknown>(calls)).map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
    expect(fake.sent.map(({ token }) => token)).toEqual([OLD, OLD, OLD, NEW, NEW]);
  });

  test("of two at once each settles, and the last good replacement stays", async () => {
    let count = 0;
    const fake = scriptedFetch((sent) => {
      if (!isRotation(sent)) return good(sent);
      count += 1;
      return count === 1 ? after(2_000, rotated("pat_a_firstSecret"))(sent) : after(500, rotated(NEW))(sent);
    });
    const client = fake.client({ token: OLD });
    const ends = await allEnded([adopt(client), adopt(client)]);
    expect(ends.map(({ value }) => value?.plaintext)).toEqual(["pat_a_firstSecret", NEW]);
    await ended(client.sessions.get("1"));
    expect(fake.sent.at(-1)?.token, "the last that came").toBe("pat_a_firstSecret");
  });

  test.each([
    ["401", responds(401), "auth"],
    ["a connection that is not made", failsWith("ECONNREFUSED"), "connection"],
  ])("never waits for itself or another one: %s", async (_, reply, kind) => {
    const client = scriptedFetch(reply).client({ token: OLD, maxConcurrency: 1 });
    const ends = await allEnded([adopt(client), adopt(client)]);
    expect(ends.map(({ error }) => (error as { kind?: string } | undefined)?.kind)).toEqual([kind, kind]);
  });

  test("that hangs does not hold up a call for longer than its own time", async () => {
    const fake = scriptedFetch((sent) => (isRotation(sent) ? never(sent) : status(401)));
    const client = fake.client({ token: OLD, timeoutMs: 2_000 });
    const rotation = watch([client.tokens.rotate("t1", { adopt: true, timeoutMs: 60_000 })]);
    await pass(0);
    const { error, tookMs } = await ended(client.sessions.get("1"));
    expect(error).toMatchObject({ kind: "timeout", phase: "token" });
    expect(tookMs).toBeLessThan(2_100);
    await finish(rotation);
  });
});
