/** What a run of many items keeps in memory: its keys, and what is under way. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const SOURCES = resolve(import.meta.dirname, "../../src");
const ITEMS = 10_000;
/** Room for 100 items of a kilobyte with their calls. All items and results would take more than 10 MB. */
const SLACK = 6_000_000;

interface Figures {
  /** What a set of the keys takes, in bytes of the heap. */
  readonly keysAlone: number;
  /** Of the heap, in bytes, halfway and at the end, beyond what there was before. */
  readonly halfway: number;
  readonly atEnd: number;
  readonly summary: Readonly<Record<string, number>>;
}

// A process of its own: only there can the garbage be collected at will, and is nothing else counted.
function run(path: string): Figures {
  const program = `
    import { bulkWrite, memoryJournal } from ${JSON.stringify(`${SOURCES}/bulk/index.ts`)};
    import { fileJournal } from ${JSON.stringify(`${SOURCES}/bulk/node.ts`)};
    import { Client } from ${JSON.stringify(`${SOURCES}/client/index.ts`)};
    const heap = () => {
      for (let times = 0; times < 3; times += 1) gc();
      return process.memoryUsage().heapUsed;
    };
    function* items() {
      for (let index = 0; index < ${ITEMS}; index += 1) yield { id: "row-" + index, text: "x".repeat(1_000) + index };
    }
    let calls = 0;
    const client = new Client({
      baseUrl: "http://localhost/api/v1",
      token: "t",
      maxConcurrency: 50,
      fetch: async (url, { method, body }) => {
        if (method === "GET") return Response.json({ data: [], next_cursor: null });
        calls += 1;
        return Response.json({ number: calls, status: "open", ...JSON.parse(body) }, { status: 201 });
      },
    });
    const empty = heap();
    const keys = new Set(Array.from({ length: ${ITEMS} }, (_, index) => "row-" + index));
    const keysAlone = heap() - empty;
    keys.clear();
    const options = {
      key: (item) => item.id,
      client,
      send: (client, item) => client.issues.create("web", { title: item.text, type: "bug" }),
      concurrency: 50,
    };
    // The code itself takes memory once it has run.
    await bulkWrite({ ...options, items: [...items().take(500)], journal: memoryJournal() });
    const before = heap();
    const run = bulkWrite({
      ...options,
      items: items(),
      journal: fileJournal(${JSON.stringify(path)}),
    });
    let ended = 0;
    let halfway = 0;
    for await (const { key, result } of run) {
      ended += 1;
      if (ended === ${ITEMS / 2}) halfway = heap() - before;
    }
    console.log(JSON.stringify({ keysAlone, halfway, atEnd: heap() - before, summary: run.summary }));
  `;
  const args = ["--expose-gc", "--no-warnings", "--input-type=module", "--eval", program];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Figures;
}

test("10 000 items take no more memory than their keys, and so does a second run on their journal", () => {
  const folder = mkdtempSync(join(tmpdir(), "bulk-memory-"));
  try {
    const path = join(folder, "import.journal");
    const first = run(path);
    expect(first.summary).toMatchObject({ done: ITEMS });
    for (const taken of [first.halfway, first.atEnd]) expect(taken).toBeLessThan(first.keysAlone + SLACK);
    const second = run(path);
    expect(second.summary).toMatchObject({ skipped: ITEMS });
    // What the journal says of each key is in memory until its item has come.
    for (const taken of [second.halfway, second.atEnd]) expect(taken).toBeLessThan(2 * second.keysAlone + SLACK);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
