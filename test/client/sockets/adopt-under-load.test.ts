/** Rotating the client's own token while it is busy. */
import { describe, expect, test } from "vitest";
import { Client, isAutomationError } from "../../../src/client/index.ts";
import { startEmulator } from "../../../src/testing/node.ts";
import { LIMIT_MS } from "../../support/limits.ts";

const CALLS = 200;

interface Dispatched {
  readonly token: string;
  readonly isRotation: boolean;
  /** Dispatched after `tokens.rotate` had resolved. */
  readonly isLate: boolean;
}

async function busy(method: "GET" | "POST", maxConcurrency: number): Promise<void> {
  await using service = await startEmulator({ projects: [{ name: "web", sessions: [{}] }], rateLimit: false });
  const { emulator } = service;
  const [session] = emulator.sessions.list();
  const own = emulator.tokens.list().find(({ key_id }) => service.token.includes(key_id));
  const dispatched: Dispatched[] = [];
  let isAdopted = false;
  const client = new Client({
    baseUrl: service.baseUrl,
    token: service.token,
    maxConcurrency,
    fetch: (url, init) => {
      const token = (new Headers(init.headers).get("authorization") ?? "").replace("Bearer ", "");
      dispatched.push({ token, isRotation: url.endsWith("/rotate"), isLate: isAdopted });
      return fetch(url, init);
    },
  });
  const call = (): Promise<unknown> =>
    method === "GET"
      ? client.sessions.get(session?.id ?? "")
      : client.issues.create("web", { title: "Title", type: "bug" });

  const before = Array.from({ length: CALLS / 2 }, call);
  const rotation = client.tokens.rotate(own?.id ?? "", { adopt: true }).then((replacement) => {
    isAdopted = true;
    return replacement;
  });
  const after = Array.from({ length: CALLS / 2 }, call);
  const settled = await Promise.allSettled([...before, ...after]);
  const replacement = await rotation;
  await call();

  expect(settled.filter(({ status }) => status === "rejected")).toEqual([]);
  expect(dispatched.filter(({ isRotation }) => isRotation)).toHaveLength(1);
  expect(emulator.requests.filter(({ operation }) => operation === "tokens.rotate")).toHaveLength(1);
  const late = dispatched.filter(({ isLate }) => isLate);
  expect(late.length).toBeGreaterThan(0);
  expect(late.filter(({ token }) => token !== replacement.plaintext)).toEqual([]);
  // Each 401 was for a request with the old token, and was followed by a success with the new one.
  const refused = emulator.requests.filter(({ status }) => status === 401);
  expect(emulator.requests).toHaveLength(CALLS + 2 + refused.length);
  expect(refused.filter(({ token }) => token === replacement.key_id)).toEqual([]);
  if (method === "POST") expect(emulator.issues.list("web")).toHaveLength(CALLS + 1);
}

describe.each(["GET", "POST"] as const)("200 calls in flight: %s", (method) => {
  test.each([10, 50, 250])("maxConcurrency %i", (maxConcurrency) => busy(method, maxConcurrency));
});

test("a slow rotation: calls that receive a 401 during it wait for it", async () => {
  await using service = await startEmulator({ projects: [{ name: "web" }], rateLimit: false });
  const own = service.emulator.tokens.list()[0];
  const refused = (): readonly unknown[] => service.emulator.requests.filter(({ status }) => status === 401);
  const client = new Client({
    baseUrl: service.baseUrl,
    token: service.token,
    maxConcurrency: 30,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      // Slow enough for each of the others to be refused.
      if (url.endsWith("/rotate")) await expect.poll(() => refused()).toHaveLength(20);
      return response;
    },
  });
  const rotation = client.tokens.rotate(own?.id ?? "", { adopt: true });
  await expect.poll(() => service.emulator.requests.some(({ applied }) => applied)).toBe(true);
  const calls = await Promise.allSettled(
    Array.from({ length: 20 }, () => client.issues.create("web", { title: "Title", type: "bug" })),
  );
  await rotation;
  expect(calls.filter(({ status }) => status === "rejected")).toEqual([]);
  expect(refused()).toHaveLength(20);
  expect(service.emulator.issues.list("web")).toHaveLength(20);
});

test("a rotation that fails keeps the token, and the calls that wait for it reject", async () => {
  await using service = await startEmulator({ projects: [{ name: "web" }], rateLimit: false });
  service.emulator.fault({ operation: "tokens.rotate", delayMs: 100, status: 500, apply: true });
  const client = new Client({ baseUrl: service.baseUrl, token: service.token, retry: { minDelayMs: 1 } });
  const own = service.emulator.tokens.list()[0];
  const rotation = client.tokens.rotate(own?.id ?? "", { adopt: true }).catch((error: unknown) => error);
  await expect.poll(() => service.emulator.requests.some(({ applied }) => applied)).toBe(true);
  const refused = await client.projects
    .list()
    .toArray()
    .catch((error: unknown) => error);
  expect(await rotation).toMatchObject({ kind: "server", outcome: "unknown" });
  expect(refused).toMatchObject({ kind: "auth", attempts: 1 });
});

test("of two at once: both settle, and the client continues with a valid token", async () => {
  await using service = await startEmulator({ projects: [{ name: "web" }], rateLimit: false });
  const client = new Client({ baseUrl: service.baseUrl, token: service.token });
  const own = service.emulator.tokens.list()[0];
  const rotations = await Promise.allSettled(
    [1, 2].map(() => client.tokens.rotate(own?.id ?? "", { adopt: true, totalTimeoutMs: LIMIT_MS })),
  );
  expect(rotations.filter(({ status }) => status === "fulfilled").length).toBeGreaterThanOrEqual(1);
  for (const rotation of rotations) {
    if (rotation.status === "rejected")
      expect(isAutomationError(rotation.reason) && rotation.reason.kind).not.toBe("timeout");
  }
  await expect(client.projects.list().toArray()).resolves.toHaveLength(1);
});
