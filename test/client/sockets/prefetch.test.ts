/** Prefetching while the consumer computes between two pages and blocks the event loop. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { Client } from "../../../src/client/index.ts";
import { LIMIT_MS } from "../../support/limits.ts";

const PAGES = 5;

/** A service on a thread of its own, which counts the pages that were requested where the other thread can wait for it. */
const SERVICE = `
  const { createServer } = require("node:http");
  const { parentPort, workerData } = require("node:worker_threads");
  const count = new Int32Array(workerData);
  const asked = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://service");
    if (pathname === "/asked") return response.end(JSON.stringify(asked));
    const page = Number(searchParams.get("cursor") ?? 0);
    asked.push({ page, port: request.socket.remotePort });
    Atomics.add(count, 0, 1);
    Atomics.notify(count, 0);
    const data = Array.from({ length: 3 }, (_, index) => ({ id: String(index), name: "project" }));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ data, next_cursor: page + 1 < ${PAGES} ? String(page + 1) : null }));
  });
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

test("the next page is requested before the consumer of this one computes, over the same connection", async () => {
  const count = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(SERVICE, { eval: true, workerData: count.buffer });
  try {
    const [port] = (await once(worker, "message")) as [number]; // as the worker posts it
    const client = new Client({ baseUrl: `http://127.0.0.1:${port}`, token: "emu_K1_secret" });
    let taken = 0;
    for await (const _ of client.projects.list({}, { prefetch: true }).pages()) {
      taken += 1;
      if (taken === PAGES) continue;
      // The consumer blocks this thread until the service has been asked for the page after this one.
      while (Atomics.load(count, 0) === taken) {
        const waited = Atomics.wait(count, 0, taken, LIMIT_MS); // "not-equal" if it was asked just now
        expect(waited, `page ${taken} while page ${taken - 1} is used`).not.toBe("timed-out");
      }
    }
    const response = await fetch(`http://127.0.0.1:${port}/asked`);
    const asked = (await response.json()) as { page: number; port: number }[]; // as the worker writes it
    expect(asked.map(({ page }) => page)).toEqual([0, 1, 2, 3, 4]);
    expect(new Set(asked.map(({ port: from }) => from)).size).toBe(1);
  } finally {
    await worker.terminate();
  }
});
