/** Prefetching while the consumer computes between two pages and blocks the event loop. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { Client } from "../../src/index.ts";

const PAGES = 5;
const BUSY_MS = 50;

/** A service on a thread of its own, which records when each page was requested, on the clock of all threads. */
const SERVICE = `
  const { createServer } = require("node:http");
  const { parentPort } = require("node:worker_threads");
  const asked = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://service");
    if (pathname === "/asked") return response.end(JSON.stringify(asked));
    const page = Number(searchParams.get("cursor") ?? 0);
    asked.push({ page, at: performance.timeOrigin + performance.now(), port: request.socket.remotePort });
    const data = Array.from({ length: 3 }, (_, index) => ({ id: String(index), name: "project" }));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ data, next_cursor: page + 1 < ${PAGES} ? String(page + 1) : null }));
  });
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

const now = (): number => performance.timeOrigin + performance.now();

function compute(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test("the next page is requested before the consumer of this one computes, over the same connection", async () => {
  const worker = new Worker(SERVICE, { eval: true });
  try {
    const [port] = (await once(worker, "message")) as [number]; // as the worker posts it
    const client = new Client({ baseUrl: `http://127.0.0.1:${port}`, token: "emu_K1_secret" });
    const computed: { from: number; to: number }[] = [];
    for await (const _ of client.projects.list({}, { prefetch: true }).pages()) {
      const from = now();
      compute(BUSY_MS);
      computed.push({ from, to: now() });
    }
    const response = await fetch(`http://127.0.0.1:${port}/asked`);
    const asked = (await response.json()) as { page: number; at: number; port: number }[]; // as the worker writes it
    expect(asked.map(({ page }) => page)).toEqual([0, 1, 2, 3, 4]);
    for (const { page, at } of asked.slice(1)) {
      expect(at, `page ${page} came while page ${page - 1} was computed with`).toBeLessThan(
        computed[page - 1]?.to ?? 0,
      );
    }
    expect(new Set(asked.map(({ port: from }) => from)).size).toBe(1);
  } finally {
    await worker.terminate();
  }
});
