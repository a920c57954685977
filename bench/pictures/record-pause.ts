/** Records the picture of a pause: twelve calls against the emulator, which allows eight requests in two seconds. */

import { writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "../../dist/index.js";
import { createEmulator } from "../../dist/testing/index.js";
import type { Pause } from "./pause.ts";

const [CALLS, WAY_MS] = [12, 70];
const emulator = createEmulator({ rateLimit: { limit: 8, windowMs: 2_000 } });
const startedAt = performance.now();
const now = (): number => Math.round(performance.now() - startedAt);
const calls = new Map<string, { from: number; until: number; status: number }[]>();
const pause = { retryAfterMs: 0, from: 0, until: 0 };

const client = new Client({
  ...emulator.clientOptions,
  fetch: async (url, init) => {
    await delay(WAY_MS); // the way to a service, and back
    const response = await emulator.fetch(url, init);
    await delay(WAY_MS);
    if (response.status === 429) pause.retryAfterMs = Number(response.headers.get("retry-after")) * 1_000;
    return response;
  },
  onEvent: (event) => {
    const requests = calls.get(event.callId) ?? [];
    calls.set(event.callId, requests);
    const last = requests.at(-1);
    if (event.type === "request") requests.push({ from: now(), until: now(), status: 0 });
    if (event.type === "response" && last !== undefined) Object.assign(last, { until: now(), status: event.status });
    if (event.type === "rate_limit_pause") pause.from = now();
    if (event.type === "rate_limit_resume") pause.until = now();
  },
});
const rows = Array.from({ length: CALLS }, (_, at) => ({ title: `Row ${at + 1}`, type: "bug" }));
await Promise.all(rows.map((row) => client.issues.create("web", row)));
const recorded: Pause = { ...pause, calls: [...calls.values()] };
writeFileSync(new URL("../results/pause.json", import.meta.url), `${JSON.stringify(recorded)}\n`);
