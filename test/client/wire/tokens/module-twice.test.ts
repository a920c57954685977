/** A module that a framework evaluates twice, with a rotating token in it: each evaluation makes one of the same stored token. */
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { Client, type RotatingTokenOptions, rotatingToken, type StoredToken } from "../../../../src/client/index.ts";
import { createEmulator, type Emulator } from "../../../../src/testing/index.ts";

const DAY_MS = 24 * 60 * 60_000;

let emulator: Emulator;
/** What the store has. */
let stored: StoredToken;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "performance"], now: Date.UTC(2030, 0, 1) });
  emulator = createEmulator({ rateLimit: false, now: () => Date.now() });
  const { id, plaintext, expires_at } = emulator.createToken({ scopes: ["projects:read"], expires_in_days: 1 });
  stored = { id, plaintext, expires_at };
});
afterEach(() => void vi.useRealTimers());

/** One evaluation of the module. */
function evaluate(options: Partial<RotatingTokenOptions> = {}, { make = rotatingToken, service = emulator } = {}) {
  const token = make({
    token: stored,
    onRotated: (replacement) => {
      stored = replacement;
    },
    ...options,
  });
  const client = new Client({ baseUrl: service.baseUrl, fetch: service.fetch, token, retry: { minDelayMs: 0 } });
  const read = (): Promise<string> =>
    client.projects
      .list({ limit: 1 })
      .page()
      .then(
        () => "ok",
        (error: unknown) => String(error),
      );
  return { token, client, read };
}

const rotations = () => statuses("tokens.rotate");
const statuses = (name: string) =>
  emulator.requests.filter(({ operation }) => operation === name).map(({ status }) => status);
const inFlight = async (reads: readonly (() => Promise<string>)[]) => Promise.all(reads.map((read) => read()));

/** The function of another copy of the package, as a bundler makes one. */
async function otherCopy(): Promise<typeof rotatingToken> {
  vi.resetModules();
  onTestFinished(() => void vi.resetModules()); // other files of this process load it where nothing is replaced
  const copy = await import("../../../../src/core/token/rotating-token.ts");
  expect(copy.rotatingToken).not.toBe(rotatingToken);
  return copy.rotatingToken;
}

describe("rotates once, and no call is refused", () => {
  test.each([
    ["of one package", async () => rotatingToken],
    ["of two copies of it", otherCopy],
  ])("%s, one call after another", async (_, load) => {
    const make = await load();
    const copies = [evaluate(), evaluate({}, { make })];
    for (const { read } of [...copies, ...copies, ...copies]) expect(await read()).toBe("ok");
    expect(rotations()).toEqual([201]);
    expect(statuses("projects.list")).toEqual([200, 200, 200, 200, 200, 200]);
    for (const { token } of copies) expect(token.latest()).toEqual(stored);
  });

  test("calls at once wait for the one rotation", async () => {
    const [first, second] = [evaluate(), evaluate()];
    expect(await inFlight([first.read, second.read, first.read, second.read])).toEqual(["ok", "ok", "ok", "ok"]);
    expect(rotations()).toEqual([201]);
  });

  test("evaluated anew with a token that was rotated away, and with the one that was stored last", async () => {
    const [old] = [stored];
    for (const days of [0, 1, 1]) {
      vi.advanceTimersByTime(days * DAY_MS * 0.9);
      expect(await evaluate().read()).toBe("ok");
    }
    expect(rotations()).toEqual([201, 201, 201]);
    const late = evaluate({ token: old });
    expect(late.token.latest()).toEqual(stored);
    expect(await late.read()).toBe("ok");
    expect(rotations()).toEqual([201, 201, 201]);
    expect(statuses("projects.list")).toEqual([200, 200, 200, 200]);
  });
});

describe("each evaluation keeps its options", () => {
  test("the one whose call rotates stores, before the replacement is used; the other one stores what it could not", async () => {
    const order: string[] = [];
    const first = evaluate({
      onRotated: () => {
        order.push("first");
        throw new Error("its database is closed: this module was replaced");
      },
    });
    const second = evaluate({
      onRotated: ({ id }) => void order.push(`second ${id === emulator.tokens.list().at(-1)?.id}`),
    });
    expect(await first.read()).toMatch(/onRotated failed/);
    expect(await second.read()).toBe("ok");
    expect(await first.read()).toBe("ok");
    expect(order).toEqual(["first", "second true"]);
    expect(rotations()).toEqual([201]);
  });

  test("the failure of a rotation is told to the one whose call began it", async () => {
    const told: string[] = [];
    const [first, second] = ["first", "second"].map((name) =>
      evaluate({ onRotationFailed: () => void told.push(name) }),
    );
    emulator.fault({ operation: "tokens.rotate", status: 403, times: 1 });
    expect(await second?.read()).toBe("ok");
    expect(await first?.read()).toBe("ok");
    expect(told).toEqual(["second"]);
    expect(rotations(), "the pause after a failure is one").toEqual([403]);
  });

  test("settled() of either waits until the replacement is stored", async () => {
    let store = (): void => {};
    const storing = new Promise<void>((resolve) => {
      store = resolve;
    });
    const first = evaluate({ onRotated: () => storing });
    const second = evaluate();
    const read = first.read();
    await expect.poll(rotations).toEqual([201]);
    let isSettled = false;
    const settled = second.token.settled().then(() => {
      isSettled = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSettled).toBe(false);
    store();
    await settled;
    expect(await read).toBe("ok");
  });
});

describe("is shared with nothing else", () => {
  test("the same record at another service goes there as it is, and its rotation stays there", async () => {
    const other = createEmulator({ baseUrl: "https://other.example.com/api/v1", rateLimit: false });
    const given = stored;
    const sent: (string | null)[] = [];
    const spied: typeof other.fetch = (input, init) => {
      const request = new Request(input, init);
      sent.push(request.headers.get("authorization"));
      return other.fetch(request);
    };
    const [here, there] = [evaluate(), evaluate({ token: given }, { service: { ...other, fetch: spied } })];
    expect(await here.read()).toBe("ok");
    expect(await there.read()).toContain("401");
    expect(new Set(sent)).toEqual(new Set([`Bearer ${given.plaintext}`]));
    expect(there.token.latest()).toEqual(given);
    expect(here.token.latest()).toEqual(stored);
  });

  test("a token with the same id and another plaintext is another owner's: it gets nothing, and changes nothing", async () => {
    const given = stored;
    const own = evaluate();
    expect(await own.read()).toBe("ok");
    const stranger = evaluate({ token: { ...given, plaintext: "pat_k9_ofSomebodyElse" } });
    expect(await stranger.read()).toContain("401");
    expect(stranger.token.latest().plaintext).toBe("pat_k9_ofSomebodyElse");
    expect(await own.read()).toBe("ok");
    expect(await evaluate({ token: given }).read()).toBe("ok");
  });

  test("no print of the process shows it", async () => {
    const { plaintext } = stored;
    expect(await evaluate().read()).toBe("ok");
    const shared = Object.getOwnPropertySymbols(globalThis).map((key) => Reflect.get(globalThis, key) as unknown);
    const printed = inspect(shared, { depth: 9, showHidden: true, getters: true });
    for (const secret of [plaintext, stored.plaintext]) expect(printed).not.toContain(secret);
  });
});

test("10,000 newer ones end what the process remembers of a token, and nothing of a client that has it", async () => {
  const given = stored;
  const first = evaluate();
  const register = (serial: number) =>
    rotatingToken({
      token: { ...given, plaintext: `pat_k${serial}_secretOfAnother` },
      onRotated: () => {},
    }).createSource(() => expect.fail("no call is made"), emulator.baseUrl);
  for (let serial = 0; serial < 9_998; serial += 1) register(serial);
  expect(await first.read()).toBe("ok"); // its replacement is one more
  expect(await evaluate({ token: given }).read()).toBe("ok");
  register(9_998);
  expect(await evaluate({ token: given }).read()).toContain("401");
  expect(await first.read()).toBe("ok");
  expect(await evaluate().read()).toBe("ok");
});

test("reset() of an emulator forgets it, as its tokens begin anew", async () => {
  const given = stored;
  expect(await evaluate().read()).toBe("ok");
  emulator.reset();
  expect(emulator.createToken({ scopes: ["projects:read"], expires_in_days: 1 }).plaintext).toBe(given.plaintext);
  expect(await evaluate({ token: given }).read()).toBe("ok");
  expect(emulator.requests.map(({ status }) => status)).toEqual([201, 200]);
});
