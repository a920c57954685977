/** Walks and single calls together against a limit, over real sockets: nothing is lost, nothing comes twice. */
import { expect, test } from "vitest";
import { Client, memoryRateLimiter } from "../../../src/client/index.ts";
import { startEmulator } from "../../../src/testing/node.ts";
import { windowsInPauses } from "../../support/windows.ts";

test("five walks and 40 single calls of two clients on one limiter", async () => {
  await using service = await startEmulator({
    projects: [{ name: "web" }],
    sessionsPerProject: 60,
    ...windowsInPauses(25, 1_000),
  });
  const { emulator, baseUrl, token } = service;
  const ids = emulator.sessions.list().map(({ id }) => id);
  const rateLimiter = memoryRateLimiter();
  const [walker, caller] = [1, 2].map(() => new Client({ baseUrl, token, rateLimiter, timeoutMs: false }));
  const walks = Array.from({ length: 5 }, async () => walker?.sessions.list("web", { limit: 10 }).toArray());
  const calls = Array.from({ length: 40 }, async (_, nth) => caller?.sessions.get(ids[nth] ?? ""));

  const walked = await Promise.all(walks);
  const called = await Promise.all(calls);

  expect(called.map((session) => session?.id)).toEqual(ids.slice(0, 40));
  for (const sessions of walked) expect(sessions?.map(({ id }) => id)).toEqual(ids);
  const refusals = emulator.requests.filter(({ status }) => status === 429);
  expect(emulator.requests).toHaveLength(40 + 5 * 6 + refusals.length);
  // One 429 a window: between two of them a full window of requests succeeded.
  const ends = [...refusals.map(({ index }) => index), emulator.requests.length];
  const perWindow = ends.map((end, nth) => end - (nth === 0 ? 0 : (ends[nth - 1] ?? 0) + 1));
  expect(perWindow.slice(0, -1)).toEqual(refusals.map(() => 25));
  // A page that got a 429 is requested again with the same cursor.
  for (const { index, url } of refusals) expect(emulator.requests[index + 1]?.url).toBe(url);
});
