/** What one call holds for others ends without it: calls that a platform drops, at each of their steps in turn. */
import { beforeAll, describe, expect, test, vi } from "vitest";
import type { Client, ClientOptions, RotatingToken, TokenContext } from "../../../../src/client/index.ts";
import { knownTokens } from "../../../../src/core/token/known-tokens.ts";
import { fakeNow, settleDown } from "../../../support/fake-time.ts";
import { after, good, never, type Reply, status, tooMany } from "../../../support/replies.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";
import { dropping, loadDroppable, Visit } from "./dropping.ts";

dropping();

let pkg: Awaited<ReturnType<typeof loadDroppable>>;
beforeAll(async () => {
  pkg = await loadDroppable();
});

const OLD = "pat_k1_TheOldSecret0123";
const replacement = {
  ...{ id: "t2", plaintext: "pat_k2_TheNewSecret4567", expires_at: "2300-01-01T00:00:00.000Z" },
  ...{ name: "ci", key_id: "k2", scopes: [] },
};
const rotates =
  (serve: Reply): Reply =>
  (sent) =>
    sent.url.endsWith("/rotate") ? status(201, {}, JSON.stringify(replacement)) : serve(sent);
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface World {
  readonly client: Client;
  /** What a visit that is dropped does. */
  readonly visit: () => Promise<unknown>;
}

interface Stage {
  readonly world: () => World | Promise<World>;
  /** Calls that come so long after the dropped ones, in milliseconds, get through. */
  readonly fromMs: number;
  /** And within so long. */
  readonly withinMs: number;
}

function clientOf(reply: Reply, options: ClientOptions = {}): Client {
  return new pkg.Client({
    baseUrl: "https://automation.example.com/api/v1",
    token: OLD,
    fetch: scriptedFetch(reply).fetch,
    ...options,
  });
}

function rotating(onRotated: () => Promise<void>): RotatingToken {
  knownTokens().forget();
  const expires_at = new Date(Date.now() + 60_000).toISOString();
  return pkg.rotatingToken({ token: { id: "t1", plaintext: OLD, expires_at }, onRotated });
}

/** Until a slot, which ends with the attempt's time, and those behind it. */
const SLOT_MS = 5_000 + 250;

const STAGES: Readonly<Record<string, Stage>> = {
  "in the queue, and in flight": {
    world: () => {
      const client = clientOf(after(200, good), { maxConcurrency: 1, timeoutMs: 5_000 });
      return { client, visit: () => client.sessions.get("v") };
    },
    fromMs: 10,
    withinMs: 4 * SLOT_MS,
  },
  "in a pause": {
    world: async () => {
      let isFirst = true;
      const reply: Reply = (sent) => {
        if (!isFirst) return after(200, good)(sent);
        isFirst = false;
        return tooMany(20)(sent);
      };
      const client = clientOf(reply, { maxConcurrency: 2, timeoutMs: 5_000 });
      await client.sessions.get("live", { retry: false }).catch(() => undefined);
      return { client, visit: () => client.sessions.get("v") };
    },
    fromMs: 10,
    withinMs: 21_000 + 4 * SLOT_MS,
  },
  "with a 429 of its own": {
    world: () => {
      let refused = 0;
      const reply: Reply = (sent) => {
        refused += 1;
        return refused > 1 ? after(200, good)(sent) : tooMany(20)(sent);
      };
      const client = clientOf(reply, { maxConcurrency: 2, timeoutMs: 5_000 });
      return { client, visit: () => client.sessions.get("v") };
    },
    fromMs: 10,
    withinMs: 21_000 + 4 * SLOT_MS,
  },
  "in a provider": {
    world: () => {
      const token = (): Promise<string> => later(500).then(() => OLD);
      const client = clientOf(good, { token, timeoutMs: 5_000 });
      return { client, visit: () => client.sessions.get("v") };
    },
    fromMs: 10,
    withinMs: SLOT_MS,
  },
  "in a renewal, which calls share": {
    world: () => {
      const token = async ({ rejected }: TokenContext): Promise<string> => {
        if (rejected === undefined) return "t1";
        await later(500);
        return "t2";
      };
      const client = clientOf((sent) => (sent.token === "t2" ? good(sent) : status(401)), { token, timeoutMs: 5_000 });
      return { client, visit: () => client.sessions.get("v") };
    },
    fromMs: 5_100,
    withinMs: 2 * SLOT_MS,
  },
  "in a rotation": {
    world: () => {
      // Others are sent with the old token meanwhile.
      const reply: Reply = (sent) => (sent.url.endsWith("/rotate") ? never(sent) : after(200, good)(sent));
      const client = clientOf(reply, { token: rotating(async () => undefined), timeoutMs: 5_000 });
      return { client, visit: () => client.sessions.get("v") };
    },
    fromMs: 10,
    withinMs: 2 * SLOT_MS,
  },
  "while it stores a replacement": {
    world: () => {
      const client = clientOf(rotates(good), { token: rotating(() => later(500)), timeoutMs: 5_000 });
      return { client, visit: () => client.sessions.get("v") };
    },
    fromMs: 20_100,
    withinMs: 2 * SLOT_MS,
  },
  "in a rotation that it adopts": {
    world: () => {
      const client = clientOf(rotates(after(200, good)), { timeoutMs: 5_000 });
      return { client, visit: () => client.tokens.rotate("t1", { adopt: true }) };
    },
    fromMs: 10,
    withinMs: SLOT_MS,
  },
};

async function advance(ms: number): Promise<void> {
  await settleDown();
  await vi.advanceTimersByTimeAsync(ms);
  await settleDown();
}

/** Three visits that are dropped after so many steps, and then three calls. Returns whether anything was dropped. */
async function dropAt(steps: number, { world, fromMs, withinMs }: Stage): Promise<boolean> {
  const { client, visit } = await world();
  const dropped = [1, 2, 3].map(() => new Visit(steps));
  for (const one of dropped) one.run(() => void visit().catch(() => undefined));
  await advance(fromMs);
  const ends: unknown[] = [];
  const began = fakeNow();
  for (const id of ["1", "2", "3"]) {
    client.sessions.get(id).then(
      () => ends.push(fakeNow() - began),
      (error: unknown) => ends.push(String(error)),
    );
  }
  for (let waited = 0; waited < withinMs && ends.length < 3; waited += 250) await advance(250);
  expect(ends, `dropped after ${steps} steps`).toEqual([expect.any(Number), expect.any(Number), expect.any(Number)]);
  const wasDropped = dropped.some(({ isDropped }) => isDropped);
  vi.clearAllTimers();
  return wasDropped;
}

describe.each(Object.entries(STAGES))("calls that are dropped %s", (_, stage) => {
  test("let others through", async () => {
    let steps = 0;
    while (await dropAt(steps, stage)) steps += 1;
    expect(steps).toBeGreaterThan(10);
  });
});

test("settled() waits for a rotation that was dropped until its limit, and no longer", async () => {
  for (let steps = 0, wasDropped = true; wasDropped; steps += 1) {
    const token = rotating(() => later(500));
    const reply: Reply = (sent) => (sent.url.endsWith("/rotate") ? after(200, rotates(good))(sent) : good(sent));
    const client = clientOf(reply, { token, timeoutMs: 5_000 });
    const visit = new Visit(steps);
    visit.run(() => void client.sessions.get("v").catch(() => undefined));
    await advance(10);
    let isSettled = false;
    void token.settled().then(() => {
      isSettled = true;
    });
    for (let waited = 0; waited < 301_000 && !isSettled; waited += 5_000) await advance(5_000);
    expect(isSettled, `dropped after ${steps} steps`).toBe(true);
    wasDropped = visit.isDropped;
    vi.clearAllTimers();
  }
});
