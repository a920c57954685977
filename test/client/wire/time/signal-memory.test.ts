/** Calls leave nothing behind in memory. */
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const MODULE = resolve(import.meta.dirname, "../../../../src/client/index.ts");
const CALLS = 20_000;

// A process of its own, so that garbage can be collected on demand and no other test's memory is counted.
test("20 000 calls on one signal: less than 100 bytes each", () => {
  const program = `
    import { Client } from ${JSON.stringify(MODULE)};
    const { signal } = new AbortController();
    const body = JSON.stringify({ id: "1", state: "running" });
    const client = new Client({ baseUrl: "https://service.invalid/v1", token: "t", fetch: async () => new Response(body) });
    const calls = async (count) => {
      for (let done = 0; done < count; done += 10) {
        await Promise.all(Array.from({ length: 10 }, () => client.sessions.get("1", { signal, totalTimeoutMs: 60_000 })));
      }
      // Finalizers run later than the collection, so it takes several rounds.
      for (let times = 0; times < 6; times += 1) {
        gc();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return process.memoryUsage().heapUsed;
    };
    const before = await calls(10_000);
    const after = await calls(${CALLS});
    console.log((after - before) / ${CALLS});
  `;
  const args = ["--expose-gc", "--no-warnings", "--input-type=module", "--eval", program];
  const bytes = Number(execFileSync(process.execPath, args, { encoding: "utf8" }));
  expect(bytes).toBeLessThan(100);
});
