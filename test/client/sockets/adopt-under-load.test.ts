/** Rotating the client's own token while it is busy. */
import { describe, expect, test } from "vitest";
import { Client } from "../../../src/client/index.ts";
import { startEmulator } from "../../../src/testing/node.ts";

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
    timeoutMs: false, // a busy machine takes longer than the default to answer so many at once
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
