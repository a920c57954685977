/** Records the picture of a rotation: a call every 200 ms against the emulator, whose token is due after four of them. */

import { writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { Client, rotatingToken } from "../../dist/index.js";
import { createEmulator } from "../../dist/testing/index.js";
import type { Call } from "./calls.ts";
import type { Rotation } from "./rotation.ts";

type Request = Call["requests"][number];

const [CALLS, APART_MS, WAY_MS, STORE_MS, RENEW_BEFORE_MS] = [12, 200, 300, 600, 60 * 60_000];
const emulator = createEmulator();
await new Client(emulator.clientOptions).projects.list().page(); // the first call of a process takes longer
const startedAt = performance.now();
const now = (): number => Math.round(performance.now() - startedAt);
const calls = new Map<string, Request[]>();
const rotation = { from: 0, revoked: 0, until: 0, stored: 0 };

const dueAt = new Date(Date.now() + RENEW_BEFORE_MS + APART_MS * 3.5);
const first = { ...emulator.createToken({ scopes: ["issues:write"] }), expires_at: dueAt.toISOString() };
const token = rotatingToken({
  token: first,
  renewBeforeMs: RENEW_BEFORE_MS,
  onRotated: async () => {
    rotation.until = now();
    await delay(STORE_MS); // a secret store
    rotation.stored = now();
  },
});
const client = new Client({
  baseUrl: emulator.baseUrl,
  token,
  maxConcurrency: CALLS,
  fetch: async (url, init) => {
    const isRotation = url.endsWith("/rotate");
    if (isRotation) rotation.from = now();
    await delay(WAY_MS); // the way to a service, and back
    const response = await emulator.fetch(url, init);
    if (isRotation) rotation.revoked = now();
    await delay(WAY_MS);
    return response;
  },
  onEvent: (event) => {
    const requests = calls.get(event.callId);
    const last = requests?.at(-1);
    if (event.type === "request") requests?.push({ from: now(), until: now(), status: 0 });
    if (event.type === "response" && last !== undefined) Object.assign(last, { until: now(), status: event.status });
  },
});

const recorded = Array.from({ length: CALLS }, async (_, at) => {
  await delay(at * APART_MS);
  const requests: Request[] = [];
  const from = now();
  const onRequest = ({ callId }: { callId: string }): void => void calls.set(callId, requests);
  await client.issues.create("web", { title: `Row ${at + 1}`, type: "bug" }, { onRequest });
  return { from, requests };
});
const settled = await Promise.all(recorded);
const result: Rotation = { ...rotation, apartMs: APART_MS, calls: settled };
writeFileSync(new URL("../results/rotation.json", import.meta.url), `${JSON.stringify(result)}\n`);
